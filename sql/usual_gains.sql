-- One row per guess: what it gains from most values of the secret (from a sample of them, where
-- there are many), times `scale`.
CREATE OR REPLACE VIEW usual_gains AS
SELECT
    guess,
    mode(round(gain * (SELECT scale FROM scale))::HUGEINT ORDER BY gain) AS usual
FROM pairs
WHERE code % greatest(1, (SELECT count(*) FROM secret_values) // 128) = 0
GROUP BY guess;
