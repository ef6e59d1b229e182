-- One row per guess: what it usually gains, and its rank by that, the best first. One guess is to
-- abstain: it gains nothing.
CREATE OR REPLACE VIEW stakes AS
SELECT
    guess,
    usual,
    row_number() OVER (ORDER BY usual DESC, guess ASC NULLS LAST) AS rank
FROM (
    SELECT
        guess,
        usual
    FROM usual_gains
    UNION ALL
    SELECT
        0 AS guess,
        0 AS usual
) AS guesses;
