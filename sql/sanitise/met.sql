-- One row per person's values and class in whose spans they lie, in nodes that are not cut.
CREATE OR REPLACE VIEW met AS
SELECT
    uncut.point,
    boxes.class
FROM uncut
INNER JOIN boxes
    ON uncut.node = boxes.node
        AND each(place BETWEEN low AND high AND (place >= least OR place = 0));
