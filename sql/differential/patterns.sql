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
