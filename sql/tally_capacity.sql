-- The multiplicative Bayes capacity, from tallies: see capacity.
CREATE OR REPLACE VIEW tally_capacity AS
SELECT
    -best.everybody AS everybody,
    sum(blocks * best.people) AS people
FROM (
    SELECT
        tally_counts.blocks,
        list_max(
            list_transform(
                tally_counts.counts,
                lambda c, i: {
                    'share': c / everybody.counts[i],
                    'everybody': -everybody.counts[i],
                    'people': c
                }
            )
        ) AS best
    FROM tally_counts
    CROSS JOIN (
        SELECT list(weight ORDER BY secret ASC NULLS LAST) AS counts FROM prior_cells
    ) AS everybody
) AS shares
GROUP BY best.everybody;
