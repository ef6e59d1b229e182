-- One row per cell that is an interval: the places of the first and the last value in it. The
-- value before the first is the last below the lower bound.
CREATE OR REPLACE VIEW ranges AS
SELECT
    bounds.id,
    bounds.missing,
    1 + coalesce(CASE WHEN bounds.open_below THEN upto_lower.place ELSE below_lower.place END, 0) AS least,
    CASE
        WHEN bounds.upper IS NULL THEN (SELECT max(place) FROM places)
        ELSE coalesce(CASE WHEN bounds.open_above THEN below_upper.place ELSE upto_upper.place END, 0)
    END AS high
FROM (SELECT * FROM parsed WHERE ranged) AS bounds
ASOF LEFT JOIN places AS below_lower ON bounds.lower > comparable(below_lower.value)
ASOF LEFT JOIN places AS upto_lower ON bounds.lower >= comparable(upto_lower.value)
ASOF LEFT JOIN places AS below_upper ON bounds.upper > comparable(below_upper.value)
ASOF LEFT JOIN places AS upto_upper ON bounds.upper >= comparable(upto_upper.value);
