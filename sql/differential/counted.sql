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
