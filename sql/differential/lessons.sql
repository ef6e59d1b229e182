-- One row per target, release with (0) or without them (1), pattern and secret, in their order: how
-- many records. Records none of whose cells hold a value of the target have pattern 0.
CREATE OR REPLACE VIEW lessons AS
SELECT
    target,
    release,
    pattern,
    secret,
    people
FROM (
    SELECT
        target,
        release,
        pattern,
        secret,
        people
    FROM patterns
    WHERE pattern > 0
    UNION ALL
    SELECT
        totals.target,
        totals.release,
        0::BIGINT AS pattern,
        totals.secret,
        totals.people - coalesce(known.people, 0) AS people
    FROM totals LEFT JOIN (
        SELECT
            target,
            release,
            secret,
            sum(people)::BIGINT AS people
        FROM patterns
        WHERE pattern > 0
        GROUP BY target, release, secret
    ) AS known
        ON totals.target = known.target AND totals.release = known.release
        AND totals.secret = known.secret
) AS every_lesson
WHERE people > 0
ORDER BY target, release, pattern, secret;
