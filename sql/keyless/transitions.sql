-- Tables of transitions that a user gives.

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

-- One row about a table of transitions: its lines, those whose values do not fit the column, those
-- without a probability, those that repeat a pair, the values it leads from, and how many of these
-- have probabilities that do not add up to 1.
CREATE OR REPLACE VIEW lawless AS
SELECT
    (SELECT count(*) FROM transitions) AS lines,
    (SELECT count(*) FROM transitions WHERE unfit_before OR unfit_after) AS unfit,
    (
        SELECT count(*)
        FROM transitions
        WHERE coalesce(NOT (probability >= 0 AND probability <= 1), true)
    ) AS wrong,
    (
        SELECT coalesce(sum(lines - 1), 0)::BIGINT
        FROM (SELECT count(*) AS lines FROM transitions GROUP BY before, after) AS pairs
    ) AS twice,
    count(*) AS values_before,
    count(*) FILTER (WHERE abs(probabilities - 1) > 1e-9) AS unsound
FROM (
    SELECT
        before,
        sum(probability ORDER BY probability) AS probabilities
    FROM transitions
    GROUP BY before
) AS departures;

-- One row per value and value that may follow it in the next release.
CREATE OR REPLACE VIEW known_transitions AS
SELECT
    before,
    after,
    probability
FROM transitions
WHERE probability > 0;
