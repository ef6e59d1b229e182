-- One row per kind of block by its counts of all values of the secret, numbered in their order.
CREATE OR REPLACE VIEW kinds AS
SELECT
    row_number() OVER (ORDER BY counts) AS kind,
    counts,
    blocks
FROM tally_counts;
