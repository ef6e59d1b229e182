-- One row: a block whose counts, divided by what divides all of them, are those that are sought, the
-- largest and first of them.
CREATE OR REPLACE VIEW worst_entropy AS
SELECT
    counted.qid,
    counted.size
FROM (
    SELECT
        sized.qid,
        any_value(sized.size) AS size,
        list(sized.people ORDER BY sized.people DESC) AS counts,
        list_reduce(list(sized.people), lambda a, b: gcd(a, b)) AS divisor
    FROM close_entropy
    JOIN sized ON sized.qid IS NOT DISTINCT FROM close_entropy.qid
    GROUP BY sized.qid
) AS counted
CROSS JOIN sought
WHERE list_transform(counted.counts, lambda c: c // counted.divisor) = sought.counts
ORDER BY counted.size DESC, counted.qid ASC NULLS LAST
LIMIT 1;
