-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the largest factor between a value's share
-- in the block and in the release, either way.
CREATE OR REPLACE VIEW of_delta_disclosure AS
SELECT
    grades.qid,
    grades.blocks,
    grades.members,
    grades.size,
    CASE
        WHEN highest * whole.people / size >= size / (lowest * whole.people)
            THEN round(highest * highest_everybody)::HUGEINT * whole.people
        ELSE (size * lowest_everybody)::HUGEINT
    END AS part,
    CASE
        WHEN highest * whole.people / size >= size / (lowest * whole.people)
            THEN (size * highest_everybody)::HUGEINT
        ELSE round(lowest * lowest_everybody)::HUGEINT * whole.people
    END AS whole,
    true AS logarithm,
    greatest(highest * whole.people / size, size / (lowest * whole.people)) AS score
FROM grades
CROSS JOIN whole;
