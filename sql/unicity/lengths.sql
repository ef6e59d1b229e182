-- One row per number of points and number of points that others have, too: so many people.
CREATE OR REPLACE VIEW lengths AS
SELECT
    points,
    shared,
    count(*) AS people
FROM people
GROUP BY GROUPING SETS ((points), (shared));
