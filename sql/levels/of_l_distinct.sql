-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: different values.
CREATE OR REPLACE VIEW of_l_distinct AS
SELECT
    qid,
    blocks,
    members,
    size,
    "values" AS part,
    1 AS whole,
    false AS logarithm,
    -"values"::DOUBLE AS score
FROM grades;
