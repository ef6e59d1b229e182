-- One row: the power of two that turns gains into whole numbers of at most 60 bits, fewer where
-- weights take many, so that sums of them are exact and of no order.
CREATE OR REPLACE VIEW scale AS
SELECT
    pow(
        2,
        least(60, 120 - ceil(log2((SELECT sum(weight)::DOUBLE FROM prior_cells))))
        - coalesce(ceil(log2(nullif(max(abs(gain)), 0))), 0)
    ) AS scale
FROM pairs;
