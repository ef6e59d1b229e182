-- One row per person's values in a node that is cut: the half in which they lie.
CREATE OR REPLACE VIEW cut_points AS
SELECT
    2 * points.node + ([place][cuts.side] > cuts.cut)::INTEGER AS node,
    points.point,
    place
FROM points INNER JOIN cuts ON points.node = cuts.node;
