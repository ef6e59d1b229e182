-- One row per node that is worth cutting: the column and place behind which it is cut, so that the
-- fewest boxes lie on both sides and the halves are about equal.
CREATE OR REPLACE VIEW cuts AS
SELECT
    node,
    arg_min(side, (cost, side, cut)) AS side,
    arg_min(cut, (cost, side, cut)) AS cut
FROM (
    SELECT
        sides.node,
        sides.side,
        tried.cut,
        count(*) FILTER (sides.low_end <= tried.cut) AS before,
        count(*) FILTER (sides.high_end > tried.cut) AS behind,
        before * before + behind * behind AS cost,
        count(*) * count(*) AS uncut
    FROM sides
    INNER JOIN (
        SELECT DISTINCT
            node,
            side,
            unnest(quantile_disc(high_end, [0.1, 0.3, 0.5, 0.7, 0.9])) AS cut
        FROM sides
        GROUP BY node, side
    ) AS tried ON sides.node = tried.node AND sides.side = tried.side
    GROUP BY sides.node, sides.side, tried.cut
) AS costs
WHERE cost < 0.9 * uncut
GROUP BY node;
