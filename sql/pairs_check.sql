-- One row: whether a gain function is complete. How many pairs of a guess and a value it has, how
-- many different ones, how many guesses and values; how many gains are no number; the lowest gain,
-- the highest, and the highest that a guess has at its worst.
CREATE OR REPLACE VIEW pairs_check AS
SELECT
    coalesce(sum(pairs), 0)::BIGINT AS pairs,
    coalesce(sum(different), 0)::BIGINT AS different,
    count(*) AS guesses,
    (SELECT count(*) FROM secret_values) AS "values",
    coalesce(sum(unusable), 0)::BIGINT AS unusable,
    min(lowest) AS lowest,
    max(highest) AS highest,
    max(lowest) AS safest
FROM (
    SELECT
        guess,
        count(*) AS pairs,
        count(DISTINCT code) AS different,
        count(*) FILTER (WHERE gain IS NULL OR NOT isfinite(gain)) AS unusable,
        min(gain) AS lowest,
        max(gain) AS highest
    FROM pairs
    GROUP BY guess
) AS guesses;
