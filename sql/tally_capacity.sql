-- One row: the multiplicative Bayes capacity, from tallies (see capacity).
CREATE OR REPLACE VIEW tally_capacity AS
SELECT sum((blocks * list_max(shares) * pow(2, 80))::HUGEINT) / pow(2, 80) AS capacity
FROM (
    SELECT
        tally_counts.blocks,
        list_transform(tally_counts.counts, lambda c, i: c / everybody.counts[i]) AS shares
    FROM tally_counts
    CROSS JOIN (
        SELECT list(weight ORDER BY secret ASC NULLS LAST) AS counts FROM prior_cells
    ) AS everybody
) AS shares;
