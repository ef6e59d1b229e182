-- One row per secret that a target takes away, and secret: how many people of the whole release.
CREATE OR REPLACE VIEW everybody_else AS
SELECT
    part,
    FALSE AS side,
    secrets,
    people
FROM (
    SELECT
        gone.secret AS part,
        secrets,
        sum(different.people)::BIGINT - (gone.secret = [secrets][1])::BIGINT AS people
    FROM different CROSS JOIN (SELECT DISTINCT secret FROM targets) AS gone
    GROUP BY gone.secret, secrets
) AS without_target
WHERE people > 0;
