-- One row per tree of a target's own, quasi-identifier and place that is another one there.
CREATE OR REPLACE VIEW own_scale AS
SELECT
    roots.root,
    moved.attribute,
    moved.spot_of_all,
    moved.spot
FROM roots
JOIN targets ON roots.target = targets.target
JOIN moved ON list_extract(targets.spots, moved.attribute) = moved.lonely_spot;
