-- One row per person whom the exactly matching columns alone tell from everybody else in a release.
CREATE OR REPLACE VIEW alone AS
SELECT
    exact AS key,
    any_value(value) AS value
FROM valued
GROUP BY exact
HAVING count(*) = 1;
