-- One row per cell that is a list: its values; a list that is missing stands for everything.
CREATE OR REPLACE VIEW parsed_list AS
SELECT
    id,
    cell IS NULL AS everything,
    FALSE AS ranged,
    NULL AS lower,
    NULL AS upper,
    FALSE AS open_below,
    FALSE AS open_above,
    FALSE AS missing,
    cell AS items,
    NULL AS prefix,
    NULL AS length
FROM cells;
