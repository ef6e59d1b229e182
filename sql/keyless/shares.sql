-- One row per observation of all releases and secret that is possible with it: its chance.
CREATE OR REPLACE VIEW shares AS
SELECT
    secret_crowd.first_sight,
    endings.seen,
    endings.sight,
    secret_crowd.secret,
    sum(secret_crowd.records * endings.mass) AS mass
FROM secret_crowd
JOIN endings ON endings.source = secret_crowd.kind
GROUP BY secret_crowd.first_sight, endings.seen, endings.sight, secret_crowd.secret;
