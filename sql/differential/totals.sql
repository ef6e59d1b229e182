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
