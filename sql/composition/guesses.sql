-- One row per combination of spots: the best guess, of several the smallest value.
CREATE OR REPLACE VIEW guesses AS
SELECT
    shared.alike,
    min(shared.secret) AS guess
FROM shared
INNER JOIN told ON shared.alike = told.alike AND shared.weight = told.best
GROUP BY shared.alike;
