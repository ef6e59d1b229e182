-- One row per person's values: the classes of one release in which they lie, in order; none where
-- there is no such class.
CREATE OR REPLACE VIEW reached AS
SELECT
    points.point,
    coalesce(list(found.class ORDER BY found.class) FILTER (WHERE found.class IS NOT NULL), []) AS classes
FROM points LEFT JOIN found ON points.point = found.point
GROUP BY points.point;
