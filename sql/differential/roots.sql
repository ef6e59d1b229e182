-- One row per tree: 0 is that of the whole release. Where a limit is about the distribution of the
-- secret, one for each secret that somebody takes away. One for each target without whom a scale
-- changes: its root holds the others alone.
CREATE OR REPLACE VIEW roots AS
SELECT
    row_number() OVER (ORDER BY target NULLS FIRST, secret NULLS FIRST) - 1 AS root,
    secret,
    target
FROM (
    SELECT
        NULL::INTEGER AS secret,
        NULL::BIGINT AS target
    UNION ALL
    SELECT DISTINCT
        secret,
        NULL::BIGINT AS target
    FROM targets
    WHERE wanted_worlds = 1
    UNION ALL
    SELECT DISTINCT
        CASE WHEN wanted_worlds = 1 THEN targets.secret END AS secret,
        targets.target
    FROM targets JOIN rescaled ON targets.target = rescaled.target
) AS every_root;
