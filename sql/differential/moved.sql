-- One row per value whose place is another one on the scale without the value of a target.
CREATE OR REPLACE VIEW moved AS
SELECT
    wanted_spot AS lonely_spot,
    wanted_attribute AS attribute,
    scale.place AS spot_of_all,
    without_value.place AS spot
FROM without_value
JOIN scale ON scale.code = without_value.code + (without_value.code >= wanted_code)::BIGINT
WHERE scale.place <> without_value.place;
