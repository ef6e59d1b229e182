-- The profile of one secret with few values, from its tallies.
CREATE OR REPLACE VIEW tally_profile AS
SELECT
    list_sum(counts)::BIGINT AS size,
    list_max(counts) AS mode,
    len(list_filter(counts, lambda c: c > 0)) AS "values",
    sum(blocks)::BIGINT AS blocks
FROM tally_counts
GROUP BY ALL;
