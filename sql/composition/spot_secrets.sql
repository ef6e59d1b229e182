-- One row per spot and value of the secret there: how many records of its classes have it.
-- Suppressed records may be anybody's, so they are in every spot, where they count at all.
CREATE OR REPLACE VIEW spot_secrets AS
SELECT
    spot,
    secret,
    sum(records)::BIGINT AS records
FROM (
    SELECT
        standing.spot,
        class_secrets.secret,
        class_secrets.records
    FROM (SELECT spot, unnest(classes) AS class FROM spots) AS standing
    INNER JOIN class_secrets ON standing.class = class_secrets.class
    UNION ALL
    SELECT
        spots.spot,
        suppressed_secrets.secret,
        suppressed_secrets.records
    FROM spots CROSS JOIN suppressed_secrets
) AS every
GROUP BY spot, secret;
