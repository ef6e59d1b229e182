-- One row per person's values in a node that is not cut any more.
CREATE OR REPLACE VIEW uncut AS
SELECT
    points.node,
    points.point,
    place
FROM points ANTI JOIN cuts ON points.node = cuts.node;
