-- The counts that noise is weighed by.

-- One row per value of the useful attribute, answers of the predicates (a bit for each, the first
-- is 1) and value of the secret that occur together: how many people.
CREATE OR REPLACE VIEW joint AS
SELECT
    useful,
    pattern,
    secret,
    count(*) AS people
FROM respondents
GROUP BY useful, pattern, secret;

-- One row: how many people, values of the useful attribute and of the secret (a missing one is one),
-- pairs of them that occur together, and values of the useful attribute that are missing.
CREATE OR REPLACE VIEW extent AS
SELECT
    coalesce(sum(people), 0)::BIGINT AS records,
    (SELECT count(*) FROM (SELECT useful FROM joint GROUP BY useful) AS useful_values)
        AS useful_values,
    (SELECT count(*) FROM (SELECT secret FROM joint GROUP BY secret) AS secret_values)
        AS secret_values,
    (SELECT count(*) FROM (SELECT useful, secret FROM joint GROUP BY useful, secret) AS pairs)
        AS pairs,
    coalesce(sum(people) FILTER (WHERE useful IS NULL), 0)::BIGINT AS missing
FROM joint;

-- One row per value of the useful attribute that occurs or is listed: its place in the order, from
-- 0. Listed values come first, in the order of the list, others in their own; a missing value is
-- last.
CREATE OR REPLACE VIEW places AS
SELECT
    useful,
    "position",
    row_number() OVER (ORDER BY "position" ASC NULLS LAST, useful ASC NULLS LAST) - 1 AS place
FROM (
    SELECT useful, min("position") AS "position"
    FROM (
        SELECT useful, NULL::BIGINT AS "position" FROM joint
        UNION ALL
        SELECT useful, "position" FROM listed
    ) AS every_value
    GROUP BY useful
) AS possible;

-- One row per place of the useful attribute: how many people are there, and the least and the
-- greatest pattern of answers of the predicates among them (the same, where the useful attribute
-- decides the answers).
CREATE OR REPLACE VIEW held AS
SELECT
    places.place,
    coalesce(sum(joint.people), 0)::BIGINT AS people,
    min(joint.pattern) AS least,
    max(joint.pattern) AS greatest
FROM places
LEFT JOIN joint ON joint.useful IS NOT DISTINCT FROM places.useful
GROUP BY places.place
ORDER BY places.place;

-- One row per place of the useful attribute, pattern of answers and value of the secret that occur
-- together: how many people.
CREATE OR REPLACE VIEW placed AS
SELECT
    places.place,
    joint.pattern,
    joint.secret,
    joint.people
FROM joint
JOIN places ON places.useful IS NOT DISTINCT FROM joint.useful;

-- One row per kind of values of the secret: those that occur with the same places of the useful
-- attribute and patterns of answers, so many people each (place, pattern, people).
CREATE OR REPLACE VIEW kinds AS
SELECT DISTINCT cells
FROM (
    SELECT
        secret,
        list([place, pattern, people] ORDER BY place ASC, pattern ASC) AS cells
    FROM placed
    GROUP BY secret
) AS of_values;

-- One row per place of the useful attribute, pattern of answers and value of the secret, by its
-- number, that occur together, in this order: how many people.
CREATE OR REPLACE VIEW population AS
SELECT
    place,
    pattern,
    dense_rank() OVER (ORDER BY secret ASC NULLS LAST) AS number_of_secret,
    people
FROM placed
ORDER BY place ASC, pattern ASC, number_of_secret ASC;

-- One row: how many places and values of the secret occur together, which are held in memory where
-- noise is on the records.
CREATE OR REPLACE VIEW cells AS
SELECT coalesce(sum(len(cells)), 0)::BIGINT AS cells
FROM kinds;

-- One row: how many whole numbers there are from the least value of the useful attribute to the
-- greatest.
CREATE OR REPLACE VIEW span AS
SELECT (max(useful)::HUGEINT - min(useful)::HUGEINT + 1)::HUGEINT AS numbers
FROM joint;

-- One row per number of people and what they have in common: how many values (of the useful
-- attribute, of the secret, of both together) have so many people.
CREATE OR REPLACE VIEW spectra AS
SELECT
    part,
    people,
    count(*) AS "values"
FROM (
    SELECT 'useful' AS part, sum(people)::BIGINT AS people FROM joint GROUP BY useful
    UNION ALL
    SELECT 'secret' AS part, sum(people)::BIGINT AS people FROM joint GROUP BY secret
    UNION ALL
    SELECT 'both' AS part, sum(people)::BIGINT AS people FROM joint GROUP BY useful, secret
) AS frequencies
GROUP BY part, people;

-- One row per pattern of answers of the predicates: how many people.
CREATE OR REPLACE VIEW totals AS
SELECT
    pattern,
    sum(people)::BIGINT AS people
FROM joint
GROUP BY pattern
ORDER BY pattern;

-- One row per pattern of answers and value of the secret that occur together, wherever the useful
-- attribute has its place: how many people.
CREATE OR REPLACE VIEW unplaced AS
SELECT
    0::BIGINT AS place,
    pattern,
    secret,
    sum(people)::BIGINT AS people
FROM joint
GROUP BY pattern, secret;

-- One row per whole number from the least value of the useful attribute to the greatest.
CREATE OR REPLACE VIEW whole AS
SELECT
    unnest(range(min(useful)::BIGINT, max(useful)::BIGINT + 1)) AS useful,
    NULL::BIGINT AS "position"
FROM joint;
