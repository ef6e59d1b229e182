-- One row per guess of a matrix: what it usually gains, and its rank by that, the best first.
CREATE OR REPLACE VIEW matrix_stakes AS
SELECT
    guess,
    usual,
    row_number() OVER (ORDER BY usual DESC, guess ASC NULLS LAST) AS rank
FROM usual_gains;
