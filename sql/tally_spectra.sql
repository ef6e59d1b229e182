-- One row per kind of block by the counts of its values, whichever these are, from its tallies.
CREATE OR REPLACE VIEW tally_spectra AS
SELECT
    list_reverse_sort(list_filter(counts, lambda c: c > 0)) AS counts,
    sum(blocks)::BIGINT AS blocks
FROM tally_counts
GROUP BY 1;
