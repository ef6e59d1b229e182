-- One row per point and true secret of people there: how many people.
CREATE OR REPLACE VIEW crowd AS
SELECT
    points.point,
    coded.truth,
    count(*) AS people
FROM coded INNER JOIN points ON each(coded.place = points.place)
GROUP BY points.point, coded.truth;
