-- One row per kind of record: how many candidates have the largest weight.
CREATE OR REPLACE VIEW tied AS
SELECT
    weighed.kind,
    sum(weighed.records)::BIGINT AS ties
FROM weighed
JOIN totals ON totals.kind = weighed.kind AND totals.heaviest = weighed.weight
GROUP BY weighed.kind;
