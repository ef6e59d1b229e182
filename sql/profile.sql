-- One row per kind of block: how many blocks have that size, that mode and
-- that many values of the secret. Every measure is computed from this table.
CREATE OR REPLACE VIEW profile AS
SELECT
    size,
    mode,
    "values",
    count(*) AS blocks
FROM blocks
GROUP BY size, mode, "values";
