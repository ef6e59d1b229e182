-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: people in the block.
CREATE OR REPLACE VIEW of_k AS
SELECT
    qid,
    blocks,
    members,
    size,
    size AS part,
    1 AS whole,
    false AS logarithm,
    -size::DOUBLE AS score
FROM grades;
