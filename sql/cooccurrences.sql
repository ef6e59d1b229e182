-- One row per block and value of the secret that occur together: how many people, their weight,
-- that of the block, of the value (with its number) and of everybody.
CREATE OR REPLACE VIEW cooccurrences AS
SELECT
    numbered.block,
    numbered.qid,
    secret_values.code,
    cells.secret,
    cells.people,
    cells.weight,
    numbered.weight AS block_weight,
    prior_cells.weight AS value_weight,
    (SELECT sum(weight) FROM prior_cells) AS everybody
FROM cells
JOIN numbered ON numbered.qid IS NOT DISTINCT FROM cells.qid
JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells.secret;
