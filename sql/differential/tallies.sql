-- One row per target, quasi-identifier and secret, with (release 0) or without them (1): how many
-- records with that secret have a cell that holds the target's value.
CREATE OR REPLACE VIEW tallies AS
SELECT
    target,
    release,
    attribute,
    secret,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        listed.target,
        listed.release,
        listed.attribute,
        holding.secret,
        listed.sign * holding.people AS people
    FROM (
        SELECT
            parts.target,
            parts.release,
            parts.unit,
            parts.sign,
            unnest(targets.spots) AS spot,
            generate_subscripts(targets.spots, 1) AS attribute
        FROM (
            SELECT
                target,
                1 AS release,
                unit,
                sign
            FROM pieces
            UNION ALL
            SELECT
                target,
                0 AS release,
                0::BIGINT AS unit,
                1 AS sign
            FROM targets
        ) AS parts
        JOIN targets ON parts.target = targets.target
    ) AS listed
    JOIN holding
        ON listed.unit = holding.unit AND listed.attribute = holding.attribute
        AND listed.spot = holding.spot
    UNION ALL
    SELECT
        own_cells.target,
        1 AS release,
        own_cells.attribute,
        secrets_held.secret,
        secrets_held.people - (secrets_held.secret = targets.secret)::BIGINT AS people
    FROM own_cells
    JOIN targets ON own_cells.target = targets.target
    JOIN secrets_held ON own_cells.class = secrets_held.class
) AS added
GROUP BY target, release, attribute, secret;
