-- One row per target and release: the best guess, the first of those whose probability is the
-- highest but for rounding.
CREATE OR REPLACE VIEW guesses AS
SELECT
    target,
    release,
    min(secret) AS guess
FROM (
    SELECT
        *,
        max(probability) OVER (PARTITION BY target, release) AS most
    FROM beliefs
) AS ranked
WHERE probability >= most * (1 - 1e-12)
GROUP BY target, release;
