-- One row per denominator of chances of the best guess: from all releases together (release 0),
-- from each alone (from 1), from the one that tells most (-1); the sum of numerators over people.
CREATE OR REPLACE VIEW chances AS
SELECT
    release,
    total // gcd(best, total) AS denominator,
    sum(people * (best // gcd(best, total)))::HUGEINT AS numerator
FROM (
    SELECT people, posterior, 0 AS release, best, total FROM told
    UNION ALL
    SELECT people, posterior, -1, prior_best, prior_size FROM told
    UNION ALL
    SELECT
        people, posterior, generate_subscripts(bests, 1), unnest(bests), unnest(sizes)
    FROM told
) AS guesses
WHERE posterior > 0
GROUP BY release, denominator;
