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
