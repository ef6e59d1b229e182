-- One row per cell that is a value: that value.
CREATE OR REPLACE VIEW parsed_plain AS
SELECT
    id,
    FALSE AS everything,
    FALSE AS ranged,
    NULL AS lower,
    NULL AS upper,
    FALSE AS open_below,
    FALSE AS open_above,
    FALSE AS missing,
    [comparable(cell)] AS items,
    NULL AS prefix,
    NULL AS length
FROM cells;
