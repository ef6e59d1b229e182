-- One row per target, release with (0) or without them (1), and secret: what a classifier believes,
-- as probability and its logarithm, which is empty where the probability is 0.
CREATE OR REPLACE VIEW believed AS
SELECT
    target,
    release,
    secret,
    probability,
    CASE WHEN probability > 0 THEN ln(probability) END AS logarithm
FROM believed;
