-- One row: the multiplicative Bayes capacity as people / everybody, the sum over blocks of the
-- largest share that a value of the secret has there of all its weight, in whole parts of 2 to
-- the power of -80.
CREATE OR REPLACE VIEW capacity AS
SELECT
    pow(2, 80)::HUGEINT AS everybody,
    sum((share * pow(2, 80))::HUGEINT) AS people
FROM (
    SELECT
        cells.qid,
        max(cells.weight / prior_cells.weight) AS share
    FROM cells
    JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
    GROUP BY cells.qid
) AS shares;
