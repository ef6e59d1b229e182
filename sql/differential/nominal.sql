-- One row per value of a quasi-identifier without distances: its place and code, how many people
-- have it, and how many values there are.
CREATE OR REPLACE VIEW nominal AS
SELECT
    wanted_attribute::BIGINT AS attribute,
    place AS spot,
    code,
    people,
    wanted_values::BIGINT AS "values"
FROM scale;
