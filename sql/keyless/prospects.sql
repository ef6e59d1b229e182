-- One row per kind of record: the chance that the best chain of links from it on is right.
CREATE OR REPLACE VIEW prospects AS
SELECT
    weighed.kind,
    max(totals.presence * (weighed.weight::DOUBLE / totals.total::DOUBLE) * later.prospect) AS prospect
FROM weighed
JOIN totals ON totals.kind = weighed.kind
JOIN later ON later.kind = weighed.other
GROUP BY weighed.kind;
