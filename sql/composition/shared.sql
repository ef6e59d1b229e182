-- One row per combination of spots and value of the secret that is in all of them: the product of
-- its frequencies.
CREATE OR REPLACE VIEW shared AS
SELECT
    standing.alike,
    spot_secrets.secret,
    shared_before.weight * spot_secrets.records AS weight
FROM standing
INNER JOIN shared_before ON standing.earlier = shared_before.alike
INNER JOIN spot_secrets
    ON standing.spot = spot_secrets.spot AND shared_before.secret = spot_secrets.secret;
