-- One row: the factor that turns gains into whole numbers of at most 60 bits, fewer where weights
-- take many, so that sums of them are exact and of no order: 10 to the power of 9 if all gains have
-- at most 9 decimals and fit, else a power of two.
CREATE OR REPLACE VIEW scale AS
SELECT
    CASE
        WHEN short AND most * pow(10, 9) < pow(2, bits) THEN pow(10, 9)
        ELSE pow(2, bits - coalesce(ceil(log2(nullif(most, 0))), 0))
    END AS scale
FROM (
    SELECT
        max(abs(gain)) AS most,
        bool_and(round(gain, 9) = gain) AS short,
        least(60, 120 - ceil(log2((SELECT sum(weight)::DOUBLE FROM prior_cells)))) AS bits
    FROM pairs
) AS gains;
