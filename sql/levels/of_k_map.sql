-- One row per block of the release. The level: people of the population with the same
-- quasi-identifiers.
CREATE OR REPLACE VIEW of_k_map AS
SELECT
    blocks.qid,
    1::BIGINT AS blocks,
    blocks.size AS members,
    blocks.size,
    coalesce(population.size, 0) AS part,
    1 AS whole,
    false AS logarithm,
    -coalesce(population.size, 0)::DOUBLE AS score
FROM blocks
LEFT JOIN population ON population.qid IS NOT DISTINCT FROM blocks.qid;
