-- One row: blocks, people, the smallest block, the fewest values in one, the least certain
-- entropy.
CREATE OR REPLACE VIEW extremes AS
SELECT
    sum(blocks)::BIGINT AS blocks,
    sum(blocks * members)::BIGINT AS people,
    min("values") AS fewest,
    max(logs / size - log2(size)) AS certainty
FROM grades;
