-- One row per block: how many of its people have value number 1 of the secret.
-- The compiler repeats the last column for every value but one of every secret with few values,
-- so that one pass over the data serves them all.
CREATE OR REPLACE VIEW tallies AS
SELECT
    qid,
    count(*) AS size,
    count(*) FILTER (
        WHERE secret IS NOT DISTINCT FROM (SELECT value FROM secret_values WHERE code = 1)
    ) AS tally
FROM microdata
GROUP BY qid;
