-- One row per value of a scale but one: as the scale is measured without it.
CREATE OR REPLACE VIEW left_over AS
SELECT
    value,
    code - (code > wanted_code)::BIGINT AS code,
    people,
    position
FROM measured_scale
WHERE code <> wanted_code;
