-- In which classes of a release do people lie? A search that cuts space in halves.

-- One row per combination of places that people have: a point.
CREATE OR REPLACE VIEW points AS
SELECT
    row_number() OVER () AS point,
    place
FROM (SELECT DISTINCT place FROM coded) AS different;

-- One row per point and true secret of people there: how many people.
CREATE OR REPLACE VIEW crowd AS
SELECT
    points.point,
    coded.truth,
    count(*) AS people
FROM coded INNER JOIN points ON each(coded.place = points.place)
GROUP BY points.point, coded.truth;

-- One row per combination of values that classes are first told apart by, under a number.
CREATE OR REPLACE VIEW nodes AS
SELECT
    row_number() OVER () AS node,
    place
FROM (SELECT DISTINCT place FROM boxes) AS different;

-- One row per node in which points can meet boxes: how many of both.
CREATE OR REPLACE VIEW loads AS
SELECT
    in_points.node,
    in_points.points,
    in_boxes.boxes
FROM (SELECT node, count(*) AS points FROM points GROUP BY node) AS in_points
INNER JOIN (SELECT node, count(*) AS boxes FROM boxes GROUP BY node) AS in_boxes
    ON in_points.node = in_boxes.node;

-- One row per box and column that can be cut: from where to where it reaches.
CREATE OR REPLACE VIEW sides AS
SELECT
    boxes.node,
    unnest([low]) AS low_end,
    unnest([high]) AS high_end,
    generate_subscripts([low], 1) AS side
FROM boxes INNER JOIN loads ON boxes.node = loads.node
WHERE loads.boxes > 8 AND loads.points * loads.boxes > 4096;

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

-- One row per person's values in a node that is cut: the half in which they lie.
CREATE OR REPLACE VIEW cut_points AS
SELECT
    2 * points.node + ([place][cuts.side] > cuts.cut)::INTEGER AS node,
    points.point,
    place
FROM points INNER JOIN cuts ON points.node = cuts.node;

-- One row per person's values in a node that is not cut any more.
CREATE OR REPLACE VIEW uncut AS
SELECT
    points.node,
    points.point,
    place
FROM points ANTI JOIN cuts ON points.node = cuts.node;

-- One row per person's values and class in whose spans they lie, in nodes that are not cut.
CREATE OR REPLACE VIEW met AS
SELECT
    uncut.point,
    boxes.class
FROM uncut
INNER JOIN boxes
    ON uncut.node = boxes.node
        AND each(place BETWEEN low AND high AND (place >= least OR place = 0));

-- One row per person's values and class in whose spans they lie, where the class's cell of one
-- column has gaps: without those that fall into a gap.
CREATE OR REPLACE VIEW filled AS
SELECT
    met.point,
    met.class
FROM met
INNER JOIN ids ON met.class = ids.class
INNER JOIN spans ON ids.id = spans.id
INNER JOIN points ON met.point = points.point
LEFT JOIN members ON spans.enumerated AND spans.id = members.id AND members.place = each(points.place)
WHERE NOT spans.enumerated OR members.id IS NOT NULL;

-- One row per cell and place that it covers.
CREATE OR REPLACE VIEW covered AS
SELECT
    spans.id,
    unnest(CASE
        WHEN spans.enumerated THEN members.places
        ELSE list_concat(
            CASE WHEN spans.low = 0 AND spans.least > 0 THEN [0] ELSE [] END,
            range(spans.least, spans.high + 1)
        )
    END)::INTEGER AS place
FROM spans
LEFT JOIN (
    SELECT
        id,
        list(place) AS places
    FROM members
    GROUP BY id
) AS members ON spans.id = members.id AND spans.enumerated;
