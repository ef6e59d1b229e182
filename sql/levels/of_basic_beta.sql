-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the largest relative gain of a value over
-- its share in the release.
CREATE OR REPLACE VIEW of_basic_beta AS
SELECT
    grades.qid,
    grades.blocks,
    grades.members,
    grades.size,
    round(highest * highest_everybody)::HUGEINT * whole.people - size * highest_everybody AS part,
    (size * highest_everybody)::HUGEINT AS whole,
    false AS logarithm,
    highest * whole.people / size - 1 AS score
FROM grades
CROSS JOIN whole;
