-- One row per guess of a matrix: what it gains from most values (from a sample of them, where
-- there are many), times `scale`, and its rank by that, the best first.
CREATE OR REPLACE VIEW matrix_stakes AS
SELECT
    guess,
    usual,
    row_number() OVER (ORDER BY usual DESC, guess ASC NULLS LAST) AS rank
FROM (
    SELECT
        guess,
        mode(round(gain * (SELECT scale FROM scale))::HUGEINT ORDER BY gain) AS usual
    FROM pairs
    WHERE code % greatest(1, (SELECT count(*) FROM secret_values) // 128) = 0
    GROUP BY guess
) AS guesses;
