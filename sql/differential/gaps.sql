-- One row per target and secret that occurs with or without them: both probabilities, and how far
-- their logarithms are apart (infinite where one is 0 alone).
CREATE OR REPLACE VIEW gaps AS
SELECT
    target,
    secret,
    coalesce(max(probability) FILTER (WHERE release = 0), 0) AS before,
    coalesce(max(probability) FILTER (WHERE release = 1), 0) AS behind,
    CASE
        WHEN count(logarithm) = 0 THEN 0
        WHEN count(logarithm) = 1 THEN 'inf'::DOUBLE
        ELSE max(logarithm) - min(logarithm)
    END AS divergence
FROM beliefs
GROUP BY target, secret;
