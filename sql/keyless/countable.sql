-- One row per kind of record all of whose candidates are observed differently, and not as nobody
-- is: how many observations of the next release are possible after it.
CREATE OR REPLACE VIEW countable AS
SELECT
    kinds.kind,
    coalesce(totals.spots, 0)
    + CASE WHEN totals.kind IS NULL OR presence < 1 THEN 1 ELSE 0 END AS observations
FROM kinds
LEFT JOIN totals ON totals.kind = kinds.kind
LEFT JOIN (
    SELECT exact
    FROM spots
    GROUP BY exact
    HAVING count(*) > count(DISTINCT sight) OR min(sight) = 0
) AS mixed ON mixed.exact = kinds.exact
CROSS JOIN asked
WHERE presence > 0 AND mixed.exact IS NULL;
