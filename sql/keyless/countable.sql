-- One row per kind of record of which it is known how many observations of the next release are
-- possible after it: all of its candidates are possible, or each is observed differently.
CREATE OR REPLACE VIEW countable AS
SELECT
    kinds.kind,
    CASE
        WHEN totals.kind IS NULL THEN 1
        WHEN totals.spots = around.spots
            THEN around.sights + (totals.absence > 0 AND NOT around.like_nobody)::BIGINT
        ELSE totals.spots + (totals.absence > 0)::BIGINT
    END AS observations
FROM kinds
LEFT JOIN totals ON totals.kind = kinds.kind
LEFT JOIN (
    SELECT
        exact,
        count(*) AS spots,
        count(DISTINCT sight) AS sights,
        min(sight) = 0 AS like_nobody
    FROM spots
    GROUP BY exact
) AS around ON around.exact = kinds.exact
CROSS JOIN asked
WHERE asked.presence > 0
    AND (
        totals.kind IS NULL
        OR totals.spots = around.spots
        OR (around.spots = around.sights AND NOT around.like_nobody)
    );
