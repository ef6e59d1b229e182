-- Releases in files: which cells hold a target's values, with which secrets.

-- One row per target of a batch and quasi-identifier: the number of their value in its order, from 1;
-- 0 is the missing value.
CREATE OR REPLACE VIEW spotted AS
SELECT
    targets.target,
    CASE WHEN scale.value IS NULL THEN 0 ELSE scale.code + 1 END::INTEGER AS place
FROM targets JOIN scale ON list_extract(targets.spots, wanted_attribute) = scale.place;

-- One row per cell of one quasi-identifier and place of a target that it holds.
CREATE OR REPLACE VIEW covers AS
SELECT
    spans.id,
    aimed_at.place
FROM spans
JOIN (SELECT DISTINCT place FROM spotted) AS aimed_at
    ON aimed_at.place BETWEEN spans.low AND spans.high
    AND (aimed_at.place >= spans.least OR aimed_at.place = 0)
LEFT JOIN members ON spans.enumerated AND spans.id = members.id AND aimed_at.place = members.place
WHERE NOT spans.enumerated OR members.id IS NOT NULL;

-- One row per target, release with (0) or without them (1), pattern of cells that hold the target's
-- values (a bit for each quasi-identifier, the first is 1) and secret: how many records.
CREATE OR REPLACE VIEW patterns AS
SELECT
    target,
    release,
    pattern,
    secret,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        found.target,
        found.release,
        found.pattern,
        secrets_held.secret,
        found.sign * secrets_held.people AS people
    FROM (
        SELECT
            target,
            release,
            unit,
            sign,
            class,
            sum(1::BIGINT << (attribute - 1))::BIGINT AS pattern
        FROM bits
        GROUP BY target, release, unit, sign, class
    ) AS found
    JOIN secrets_held ON found.class = secrets_held.class
    UNION ALL
    SELECT
        own.target,
        1 AS release,
        own.pattern,
        secrets_held.secret,
        secrets_held.people - (secrets_held.secret = targets.secret)::BIGINT AS people
    FROM (
        SELECT
            target,
            class,
            sum(1::BIGINT << (attribute - 1))::BIGINT AS pattern
        FROM own_cells
        GROUP BY target, class
    ) AS own
    JOIN targets ON own.target = targets.target
    JOIN secrets_held ON own.class = secrets_held.class
) AS added
GROUP BY target, release, pattern, secret
HAVING sum(people) > 0;

-- One row per target, release with (0) or without them (1), and secret that occurs there: how many
-- records.
CREATE OR REPLACE VIEW counted AS
SELECT
    target,
    release,
    secret,
    sum(people)::BIGINT AS people
FROM patterns
GROUP BY target, release, secret;

-- One row per target, release with (0) or without them (1), quasi-identifier and secret: how many
-- records with that secret have a cell that holds the target's value.
CREATE OR REPLACE VIEW tallied AS
SELECT
    target,
    release,
    attribute,
    secret,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        *,
        unnest(range(1, wanted_width + 1)) AS attribute
    FROM patterns
) AS listed
WHERE (pattern >> (attribute - 1)) & 1 = 1
GROUP BY target, release, attribute, secret;

-- One row per target, release with (0) or without them (1), and secret that occurs there: how many
-- records.
CREATE OR REPLACE VIEW totals AS
SELECT
    targets.target,
    releases.release,
    whole.code AS secret,
    whole.people - (releases.release = 1 AND whole.code = targets.secret)::BIGINT AS people
FROM targets
CROSS JOIN whole
CROSS JOIN (SELECT unnest([0, 1]) AS release) AS releases
WHERE whole.people > (releases.release = 1 AND whole.code = targets.secret)::BIGINT;
