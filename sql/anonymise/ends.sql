-- One row: how many values a scale has, the place of the missing value, and its ends.
CREATE OR REPLACE VIEW ends AS
SELECT
    count(*) AS "values",
    any_value(place) FILTER (WHERE value IS NULL) AS missing,
    min(place) AS least,
    max(place) AS greatest
FROM scale;
