-- One row per kind of block whose entropy is close to the least one or to the one that is wanted,
-- by its counts, divided by what divides all of them: how many blocks and people.
CREATE OR REPLACE VIEW near_entropy AS
SELECT
    list_transform(counts, lambda c: c // divisor) AS counts,
    sum(blocks)::BIGINT AS blocks,
    sum(blocks * members)::BIGINT AS people
FROM (
    SELECT
        any_value(close_entropy.blocks) AS blocks,
        any_value(close_entropy.members) AS members,
        list(sized.people ORDER BY sized.people DESC) AS counts,
        list_reduce(list(sized.people), lambda a, b: gcd(a, b)) AS divisor
    FROM close_entropy
    JOIN sized ON sized.qid IS NOT DISTINCT FROM close_entropy.qid
    GROUP BY close_entropy.qid
) AS counted
GROUP BY ALL;
