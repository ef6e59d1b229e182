-- One row per observation of the focal release, kind of record and secret: how many records.
CREATE OR REPLACE VIEW secret_crowd AS
SELECT
    sight AS first_sight,
    kind,
    secret,
    count(*) AS records
FROM placed
GROUP BY sight, kind, secret;
