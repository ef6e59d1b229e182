-- One row per value and value that may follow it after one more release.
CREATE OR REPLACE VIEW transitions AS
SELECT
    earlier.before,
    later.after,
    sum(
        earlier.probability * later.probability
        ORDER BY earlier.probability * later.probability
    ) AS probability
FROM earlier
JOIN later ON later.before IS NOT DISTINCT FROM earlier.after
GROUP BY earlier.before, later.after;
