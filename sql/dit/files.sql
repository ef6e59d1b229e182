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

-- One row: how many records of the releases have a secret that nobody in the input has.
CREATE OR REPLACE VIEW unknown_secrets AS
SELECT coalesce(sum(shown.people), 0) AS records
FROM shown
ANTI JOIN known ON shown.secret IS NOT DISTINCT FROM known.value;

-- One row per target, release with (0) or without them (1), pattern of cells that hold the target's
-- values (a bit for each quasi-identifier, the first is 1) and secret: how many records. `shown` are
-- the rows of all releases; of each quasi-identifier there are its cells, the places of the targets,
-- and the places that a cell holds.
{# file_patterns(qids=[1, 2]) #}
CREATE OR REPLACE VIEW file_patterns AS
SELECT
    targets.target,
    (shown.number <> 0)::INTEGER AS release,
    0::BIGINT{% for j in qids %} + CASE WHEN covers_{{ j }}.id IS NOT NULL THEN {{ 2 ** (j - 1) }} ELSE 0 END{% endfor %} AS pattern,
    known.code AS secret,
    sum(shown.people)::BIGINT AS people
FROM shown
INNER JOIN targets ON shown.number = targets.target OR shown.number = 0
{% for j in qids %}
INNER JOIN texts_{{ j }} ON shown.cell_{{ j }} IS NOT DISTINCT FROM texts_{{ j }}.cell
INNER JOIN spotted_{{ j }} ON spotted_{{ j }}.target = targets.target
LEFT JOIN covers_{{ j }} ON covers_{{ j }}.id = texts_{{ j }}.id AND covers_{{ j }}.place = spotted_{{ j }}.place
{% endfor %}
INNER JOIN known ON shown.secret IS NOT DISTINCT FROM known.value
GROUP BY ALL;

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
