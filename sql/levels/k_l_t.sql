-- Levels of each block: k, l, t, alpha, beta-likeness, delta-disclosure.

-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the share of the most frequent value.
CREATE OR REPLACE VIEW of_alpha AS
SELECT
    qid,
    blocks,
    members,
    size,
    mode AS part,
    size AS whole,
    false AS logarithm,
    mode / size AS score
FROM grades;

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

-- One row per block: the entropy of its values in bits, with its sign changed.
CREATE OR REPLACE VIEW of_l_entropy AS
SELECT
    qid,
    blocks,
    members,
    size,
    logs / size - log2(size) AS score
FROM grades;

-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the people of the most frequent value over
-- those of the values from number l on.
CREATE OR REPLACE VIEW of_l_recursive_c AS
SELECT
    qid,
    blocks,
    members,
    size,
    mode AS part,
    tail AS whole,
    false AS logarithm,
    CASE WHEN tail = 0 THEN 'infinity'::DOUBLE ELSE mode / tail END AS score
FROM tails;

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

-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the mean over the levels of the hierarchy of
-- what moves between the nodes of a level.
CREATE OR REPLACE VIEW of_t_hierarchical AS
SELECT
    qid,
    blocks,
    members,
    size,
    moved AS part,
    size * whole_people * hierarchy_height.height AS whole,
    false AS logarithm,
    moved / (size * whole_people * hierarchy_height.height) AS score
FROM climbed
CROSS JOIN hierarchy_height;

-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the mean difference of the shares up to each
-- value.
CREATE OR REPLACE VIEW of_t_ordered AS
SELECT
    qid,
    blocks,
    members,
    size,
    moved AS part,
    size * whole_people * greatest(whole_values - 1, 1) AS whole,
    false AS logarithm,
    moved / (size * whole_people * greatest(whole_values - 1, 1)) AS score
FROM ordered;
