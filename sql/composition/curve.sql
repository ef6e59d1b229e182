-- One row per level of confidence, a fraction: how many people stand in how small a set of values,
-- before (in the one release that tells most) and after, and how many are guessed with that chance.
CREATE OR REPLACE VIEW curve AS
SELECT
    levels.level,
    coalesce(sum(sets.people) FILTER (WHERE sets.prior * levels.numerator <= levels.denominator), 0)::BIGINT AS before,
    coalesce(sum(sets.people) FILTER (WHERE sets.posterior * levels.numerator <= levels.denominator), 0)::BIGINT AS after,
    coalesce(sum(sets.people) FILTER (WHERE sets.best * levels.denominator >= sets.total * levels.numerator), 0)::BIGINT AS guessed
FROM levels
LEFT JOIN (
    SELECT
        prior,
        posterior,
        best,
        total,
        sum(people)::BIGINT AS people
    FROM told
    WHERE posterior > 0
    GROUP BY prior, posterior, best, total
) AS sets ON TRUE
GROUP BY levels.level
ORDER BY levels.level;
