-- One row per kind of block by the counts of all values of the secret, in their order, from its
-- tallies. The last value is not tallied: it is what the others leave.
CREATE OR REPLACE VIEW tally_counts AS
SELECT
    list_append([tally], last_tally) AS counts,
    sum(blocks)::BIGINT AS blocks
FROM (
    SELECT
        *,
        size - coalesce(list_sum([tally]), 0)::BIGINT AS last_tally
    FROM signatures
) AS signatures
GROUP BY counts;
