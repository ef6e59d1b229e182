-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: half the sum of the differences between
-- block and release.
CREATE OR REPLACE VIEW of_t_equal AS
SELECT
    grades.qid,
    grades.blocks,
    grades.members,
    grades.size,
    moved AS part,
    size * whole.people AS whole,
    false AS logarithm,
    moved / (size * whole.people) AS score
FROM grades
CROSS JOIN whole;
