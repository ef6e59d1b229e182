-- One row per block and guess that gains something unusual from a value that occurs there: how
-- much more than usual, summed over the block's people.
CREATE OR REPLACE VIEW expected AS
SELECT
    cells.qid,
    unusual.rank,
    sum(cells.weight * unusual.extra) AS extra
FROM cells
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells.secret
JOIN unusual ON unusual.code = secret_values.code
GROUP BY cells.qid, unusual.rank;
