-- One row per node in which points can meet boxes: how many of both.
CREATE OR REPLACE VIEW loads AS
SELECT
    in_points.node,
    in_points.points,
    in_boxes.boxes
FROM (SELECT node, count(*) AS points FROM points GROUP BY node) AS in_points
INNER JOIN (SELECT node, count(*) AS boxes FROM boxes GROUP BY node) AS in_boxes
    ON in_points.node = in_boxes.node;
