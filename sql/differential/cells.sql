-- One row per class and quasi-identifier whose cells are intervals: the ends of the cell, without
-- the missing value, and whether that is in it.
CREATE OR REPLACE VIEW cells AS
SELECT
    held.class,
    held.attribute,
    min(held.spot) FILTER (WHERE held.spot < kinds.missing) AS least,
    max(held.spot) FILTER (WHERE held.spot < kinds.missing) AS greatest,
    bool_or(held.spot = kinds.missing) AS missing
FROM held JOIN kinds ON held.attribute = kinds.attribute
WHERE kinds.interval
GROUP BY held.class, held.attribute;
