-- One row per cell that is an interval: its bounds, both in it; a structure that is missing stands
-- for everything, one without bounds for the missing value alone.
CREATE OR REPLACE VIEW parsed_interval AS
SELECT
    id,
    cell IS NULL AS everything,
    coalesce(cell.lower IS NOT NULL OR cell.upper IS NOT NULL, FALSE) AS ranged,
    comparable(cell.lower) AS lower,
    comparable(cell.upper) AS upper,
    FALSE AS open_below,
    FALSE AS open_above,
    coalesce(cell.missing, FALSE) AS missing,
    [] AS items,
    NULL AS prefix,
    NULL AS length
FROM cells;
