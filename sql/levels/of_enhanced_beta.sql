-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the largest relative gain of a value, each
-- at most minus the logarithm of its share in the release.
CREATE OR REPLACE VIEW of_enhanced_beta AS
SELECT
    grades.qid,
    grades.blocks,
    grades.members,
    grades.size,
    CASE
        WHEN limited_everybody < 0 THEN whole.people
        ELSE
            round((limited + 1) * size * (limited_everybody / whole.people))::HUGEINT * whole.people
            - size * limited_everybody
    END AS part,
    CASE
        WHEN limited_everybody < 0 THEN -limited_everybody::HUGEINT
        ELSE (size * limited_everybody)::HUGEINT
    END AS whole,
    limited_everybody < 0 AS logarithm,
    limited AS score
FROM grades
CROSS JOIN whole;
