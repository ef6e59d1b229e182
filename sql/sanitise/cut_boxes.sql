-- One row per box in a node that is cut and half in which it lies, or both.
CREATE OR REPLACE VIEW cut_boxes AS
SELECT
    2 * boxes.node + halves.half AS node,
    boxes.class,
    low,
    least,
    high
FROM boxes
INNER JOIN cuts ON boxes.node = cuts.node
INNER JOIN (SELECT unnest([0, 1]) AS half) AS halves
    ON CASE WHEN halves.half = 0 THEN [low][cuts.side] <= cuts.cut ELSE [high][cuts.side] > cuts.cut END;
