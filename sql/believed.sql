-- One row per block and value of the secret that the adversary believes possible, weighed by what
-- she believed before: the belief in the value, spread over the blocks as its people are, times
-- 2 to the power of 80.
CREATE OR REPLACE VIEW believed AS
SELECT
    cells.qid,
    cells.secret,
    cells.people,
    (cells.weight::DOUBLE / prior_cells.weight::DOUBLE * beliefs.belief * pow(2, 80))::HUGEINT
        AS weight,
    (cells.heaviest::DOUBLE / prior_cells.weight::DOUBLE * beliefs.belief * pow(2, 80))::HUGEINT
        AS heaviest
FROM cells
JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
JOIN beliefs ON beliefs.value IS NOT DISTINCT FROM cells.secret
WHERE beliefs.belief > 0;
