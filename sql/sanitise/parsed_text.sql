-- One row per cell of text: what it stands for, as it was read; a cell that was not read is the
-- value that stands there.
CREATE OR REPLACE VIEW parsed_text AS
SELECT
    cells.id,
    coalesce(readings.everything, FALSE) AS everything,
    coalesce(readings.ranged, FALSE) AS ranged,
    comparable(readings.lower) AS lower,
    comparable(readings.upper) AS upper,
    coalesce(readings.open_below, FALSE) AS open_below,
    coalesce(readings.open_above, FALSE) AS open_above,
    coalesce(readings.missing, FALSE) AS missing,
    CASE WHEN readings.id IS NULL THEN [cells.cell] ELSE readings.items END AS items,
    readings.prefix,
    readings.length
FROM cells LEFT JOIN readings ON cells.id = readings.id;
