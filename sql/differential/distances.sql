-- One row per target: how far apart what is believed with and without them is, in each distance;
-- the two guesses.
CREATE OR REPLACE VIEW distances AS
SELECT
    targets.target,
    targets.people,
    apart.total / 4 AS emd_printed,
    apart.total / 2 AS emd,
    apart.divergence AS max_divergence,
    flows.distance AS emd_hierarchy,
    guessed.with_target,
    guessed.without_target
FROM targets
JOIN (
    SELECT
        target,
        sum(floor(abs(before - behind) * 1152921504606846976)::HUGEINT)::DOUBLE / 1152921504606846976 AS total,
        max(divergence) AS divergence
    FROM gaps
    GROUP BY target
) AS apart ON targets.target = apart.target
JOIN (
    SELECT
        target,
        any_value(guess) FILTER (WHERE release = 0) AS with_target,
        any_value(guess) FILTER (WHERE release = 1) AS without_target
    FROM guesses
    GROUP BY target
) AS guessed ON targets.target = guessed.target
LEFT JOIN flows ON targets.target = flows.target;
