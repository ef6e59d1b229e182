-- One row per combination of spots and value of the secret that is there: with which frequency.
CREATE OR REPLACE VIEW shared_first AS
SELECT
    standing.alike,
    spot_secrets.secret,
    spot_secrets.records::HUGEINT AS weight
FROM standing INNER JOIN spot_secrets ON standing.spot = spot_secrets.spot;
