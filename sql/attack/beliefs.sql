-- What the adversary believed of the secret before, in place of its frequencies.

-- One row: how many values the secret has, whether a missing one is among them, how many people.
CREATE OR REPLACE VIEW domain AS
SELECT
    count(*) AS "values",
    count(*) FILTER (WHERE secret IS NULL) AS missing,
    sum(people)::BIGINT AS people
FROM prior_cells;

-- One row: whether beliefs fit the values of the secret. How many lines there are and how many
-- different values, how many of these occur; how many beliefs are no probability; their sum; how
-- many people have values that are ruled out; how many values of the secret have no belief.
CREATE OR REPLACE VIEW beliefs_check AS
SELECT
    count(*) AS lines,
    count(DISTINCT beliefs.value) + (count(*) FILTER (WHERE beliefs.value IS NULL) > 0)::INTEGER
        AS different,
    count(prior_cells.weight) FILTER (WHERE beliefs.value IS NOT NULL OR beliefs.raw IS NULL)
        AS known,
    count(*) FILTER (WHERE belief IS NULL OR NOT isfinite(belief) OR belief < 0) AS unusable,
    sum(belief) AS total,
    coalesce(sum(prior_cells.people) FILTER (WHERE belief = 0), 0)::BIGINT AS ruled_out,
    (
        SELECT count(*)
        FROM prior_cells
        LEFT JOIN beliefs ON beliefs.value IS NOT DISTINCT FROM prior_cells.secret
        WHERE beliefs.belief IS NULL
    ) AS missing
FROM beliefs
LEFT JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM beliefs.value;

-- One row per block and value of the secret that the adversary believes possible, weighed by what
-- she believed before: the belief in the value, spread over the blocks as its people are, times
-- 2 to the power of 80.
CREATE OR REPLACE VIEW believed AS
SELECT
    cells.qid,
    cells.secret,
    cells.people,
    (cells.weight::DOUBLE / prior_cells.weight::DOUBLE * beliefs.belief * pow(2, 80))::HUGEINT
        AS weight,
    (cells.heaviest::DOUBLE / prior_cells.weight::DOUBLE * beliefs.belief * pow(2, 80))::HUGEINT
        AS heaviest
FROM cells
JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
JOIN beliefs ON beliefs.value IS NOT DISTINCT FROM cells.secret
WHERE beliefs.belief > 0;

-- One row per block, possible value of the secret and group of people, weighed by what the adversary
-- believed before (see believed).
CREATE OR REPLACE VIEW believed_members AS
SELECT
    members.qid,
    members.secret,
    members.member_of,
    members.people,
    (members.weight::DOUBLE / prior_cells.weight::DOUBLE * beliefs.belief * pow(2, 80))::HUGEINT
        AS weight
FROM members
JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM members.secret
JOIN beliefs ON beliefs.value IS NOT DISTINCT FROM members.secret
WHERE beliefs.belief > 0;
