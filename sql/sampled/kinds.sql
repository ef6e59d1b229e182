-- One row per kind of block: how many blocks have so many people and are such a share of the
-- population's block.
CREATE OR REPLACE VIEW kinds AS
SELECT
    size,
    share,
    count(*) AS blocks
FROM crowds
GROUP BY size, share;
