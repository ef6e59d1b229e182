-- One row per spot with records: how many there are, how many values of the secret they have (the
-- effective anonymity), how many have the most frequent one.
CREATE OR REPLACE VIEW spot_sizes AS
SELECT
    spot,
    sum(records)::BIGINT AS size,
    count(*) AS effective,
    max(records) AS best
FROM spot_secrets
GROUP BY spot;
