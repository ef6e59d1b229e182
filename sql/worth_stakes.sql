-- One row per guess, a value of the secret, and one to abstain: each usually gains nothing.
CREATE OR REPLACE VIEW worth_stakes AS
SELECT
    guess,
    0::HUGEINT AS usual,
    row_number() OVER (ORDER BY guess ASC) AS rank
FROM (
    SELECT guess FROM pairs
    UNION ALL
    SELECT 0 AS guess
) AS guesses;
