-- k-map and delta-presence: the blocks of a release among the people who may be in it.

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

-- One row per block of the population. The level: the share of its people who are in the release.
CREATE OR REPLACE VIEW of_delta_presence_min AS
SELECT
    population.qid,
    1::BIGINT AS blocks,
    population.size AS members,
    population.size,
    coalesce(blocks.size, 0) AS part,
    population.size AS whole,
    false AS logarithm,
    -coalesce(blocks.size, 0) / population.size AS score
FROM population
LEFT JOIN blocks ON blocks.qid IS NOT DISTINCT FROM population.qid;

-- One row: blocks of the release with more people than the population has there.
CREATE OR REPLACE VIEW outside AS
SELECT
    count(*) AS blocks,
    count(*) FILTER (WHERE population.size IS NULL OR population.size < blocks.size) AS too_small
FROM blocks
LEFT JOIN population ON population.qid IS NOT DISTINCT FROM blocks.qid;
