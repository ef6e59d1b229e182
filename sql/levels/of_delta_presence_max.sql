-- One row per block of the population. The level: the share of its people who are in the release.
CREATE OR REPLACE VIEW of_delta_presence_max AS
SELECT
    population.qid,
    1::BIGINT AS blocks,
    population.size AS members,
    population.size,
    coalesce(blocks.size, 0) AS part,
    population.size AS whole,
    false AS logarithm,
    coalesce(blocks.size, 0) / population.size AS score
FROM population
LEFT JOIN blocks ON blocks.qid IS NOT DISTINCT FROM population.qid;
