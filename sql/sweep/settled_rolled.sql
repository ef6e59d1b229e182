-- One row per kind of block by the attributes that are taken.
CREATE OR REPLACE VIEW settled_rolled AS
SELECT
    getvariable('state') AS state,
    word,
    count(*) AS blocks
FROM rolled
GROUP BY ALL;
