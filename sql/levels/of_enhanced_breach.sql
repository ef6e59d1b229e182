-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the largest relative gain of a value;
-- infinite where one is beyond minus the logarithm of its share in the release.
CREATE OR REPLACE VIEW of_enhanced_breach AS
SELECT
    grades.qid,
    grades.blocks,
    grades.members,
    grades.size,
    CASE
        WHEN beyond THEN 1::HUGEINT
        ELSE round(highest * highest_everybody)::HUGEINT * whole.people - size * highest_everybody
    END AS part,
    CASE WHEN beyond THEN 0::HUGEINT ELSE (size * highest_everybody)::HUGEINT END AS whole,
    false AS logarithm,
    CASE
        WHEN beyond THEN 'infinity'::DOUBLE
        ELSE highest * whole.people / size - 1
    END AS score
FROM grades
CROSS JOIN whole;
