-- One row per person's values and class in whose spans they lie, in nodes that are not cut.
CREATE OR REPLACE VIEW met AS
SELECT
    points.point,
    boxes.class
FROM points
INNER JOIN boxes
    ON points.node = boxes.node
        AND each(place BETWEEN low AND high AND (place >= least OR place = 0))
WHERE points.node NOT IN (SELECT cuts.node FROM cuts);
