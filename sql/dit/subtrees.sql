-- Which subtrees make a target's release, and what their classes hold of the target.

-- One row per target in a tree for many: from where on the tree without them is another one.
CREATE OR REPLACE VIEW parted AS
SELECT
    walked.target,
    coalesce(
        min(walked.depth) FILTER (
            WHERE walked.attribute <> clean.attribute OR walked.cut IS DISTINCT FROM clean.cut
        ),
        max(walked.depth)
    ) AS depth,
    arg_max(walked.node, walked.depth) AS class
FROM walked LEFT JOIN clean ON walked.node = clean.node
GROUP BY walked.target;

-- One row per target and subtree that is added (1) or taken away (-1) to get the release without
-- them; their own class comes on top.
CREATE OR REPLACE VIEW pieces AS
SELECT
    target,
    unit,
    sign
FROM (
    SELECT
        target,
        root AS unit,
        1 AS sign
    FROM homes
    UNION ALL
    SELECT
        walked.target,
        walked.node AS unit,
        -1 AS sign
    FROM walked JOIN parted ON walked.target = parted.target AND walked.depth = parted.depth
    UNION ALL
    SELECT
        walked.target,
        children.child AS unit,
        1 AS sign
    FROM walked
    JOIN parted ON walked.target = parted.target AND walked.depth >= parted.depth
    JOIN children USING (node, attribute, cut)
    WHERE walked.attribute > 0 AND children.child <> walked.inside
) AS every_piece;

-- One row per subtree that is needed, which begins at its own node.
CREATE OR REPLACE VIEW front AS
SELECT
    unit,
    unit AS node
FROM (
    SELECT unit FROM pieces
    UNION
    SELECT 0::BIGINT AS unit
) AS needed;

-- One row per subtree and class in it.
CREATE OR REPLACE VIEW beneath AS
SELECT
    front.unit,
    front.node AS class
FROM front JOIN clean ON front.node = clean.node
WHERE clean.attribute = 0;

-- One row per subtree and node one step further down in it.
CREATE OR REPLACE VIEW front_next AS
SELECT
    front.unit,
    children.child AS node
FROM front
JOIN clean ON front.node = clean.node
JOIN children ON
    clean.node = children.node AND clean.attribute = children.attribute AND clean.cut = children.cut
WHERE clean.attribute > 0;

-- One row per class, quasi-identifier and place in it: how many people.
CREATE OR REPLACE VIEW held AS
SELECT
    node AS class,
    attribute,
    spot,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        node,
        people,
        unnest([place]) AS spot,
        generate_subscripts([place], 1) AS attribute
    FROM members
) AS listed
GROUP BY node, attribute, spot;

-- One row per class and secret: how many people.
CREATE OR REPLACE VIEW secrets_held AS
SELECT
    node AS class,
    [secrets][1] AS secret,
    sum(people)::BIGINT AS people
FROM members
GROUP BY node, secret;

-- One row per class and quasi-identifier whose cells are intervals: the ends of the cell, without
-- the missing value, and whether that is in it. The cell of a hierarchy is the lowest node with all
-- values.
{# cells(hierarchies=False), cells(hierarchies=True) #}
CREATE OR REPLACE VIEW cells AS
{% if hierarchies %}
SELECT
    ends.class,
    ends.attribute,
    coalesce(max(first_place), any_value(smallest)) AS smallest,
    coalesce(min(last_place), any_value(largest)) AS largest,
    any_value(missing) AS missing
FROM (
{% endif %}
SELECT
    held.class,
    held.attribute,
    min(held.spot) FILTER (WHERE held.spot < kinds.missing) AS smallest,
    max(held.spot) FILTER (WHERE held.spot < kinds.missing) AS largest,
    bool_or(held.spot = kinds.missing) AS missing
FROM held JOIN kinds ON held.attribute = kinds.attribute
WHERE kinds.interval
GROUP BY held.class, held.attribute
{% if hierarchies %}
) AS ends LEFT JOIN branches
    ON ends.attribute = branches.attribute AND smallest < largest
    AND smallest >= first_place AND largest <= last_place
GROUP BY ends.class, ends.attribute
{% endif %};

-- One row per target and quasi-identifier whose cell in their class, without them, holds their
-- value. Of a hierarchy, where they alone have it, the lowest node with the values of the others does.
{# own_cells(hierarchies=False), own_cells(hierarchies=True) #}
CREATE OR REPLACE VIEW own_cells AS
SELECT
    listed.target,
    listed.class,
    listed.attribute
FROM (
    SELECT
        parted.target,
        parted.class,
        unnest(targets.spots) AS spot,
        generate_subscripts(targets.spots, 1) AS attribute
    FROM parted JOIN targets ON parted.target = targets.target
) AS listed
JOIN kinds ON listed.attribute = kinds.attribute
JOIN held
    ON listed.class = held.class AND listed.attribute = held.attribute AND listed.spot = held.spot
LEFT JOIN cells ON listed.class = cells.class AND listed.attribute = cells.attribute
{% if hierarchies %}
LEFT JOIN (
    SELECT
        class,
        attribute,
        min(spot, 2) AS lowest,
        max(spot, 2) AS highest
    FROM held
    GROUP BY class, attribute
) AS ends ON listed.class = ends.class AND listed.attribute = ends.attribute
LEFT JOIN branches
    ON kinds.branched AND listed.attribute = branches.attribute
    AND list_extract(lowest, 1 + (listed.spot = list_extract(lowest, 1))::BIGINT) >= first_place
    AND list_extract(highest, 1 + (listed.spot = list_extract(highest, 1))::BIGINT) <= last_place
    AND list_extract(lowest, 1 + (listed.spot = list_extract(lowest, 1))::BIGINT)
    < list_extract(highest, 1 + (listed.spot = list_extract(highest, 1))::BIGINT)
GROUP BY listed.target, listed.class, listed.attribute
HAVING
    any_value(held.people) > 1
    OR any_value(listed.spot) BETWEEN max(first_place) AND min(last_place)
    OR (
        NOT any_value(kinds.branched)
        AND any_value(kinds.interval) AND any_value(listed.spot) <> any_value(kinds.missing)
        AND any_value(cells.smallest) < any_value(listed.spot)
        AND any_value(listed.spot) < any_value(cells.largest)
    )
{% else %}
WHERE
    held.people > 1
    OR (
        kinds.interval AND listed.spot <> kinds.missing
        AND cells.smallest < listed.spot AND listed.spot < cells.largest
    )
{% endif %};

-- One row per subtree, quasi-identifier and place that a target has there.
CREATE OR REPLACE VIEW wanted_cells AS
SELECT DISTINCT
    unit,
    attribute,
    spot
FROM (
    SELECT
        needed.unit,
        unnest(targets.spots) AS spot,
        generate_subscripts(targets.spots, 1) AS attribute
    FROM (
        SELECT
            target,
            unit
        FROM pieces
        UNION
        SELECT
            target,
            0::BIGINT AS unit
        FROM targets
    ) AS needed
    JOIN targets ON needed.target = targets.target
) AS listed;

-- One row per subtree, quasi-identifier, place that a target has there, and secret: how many records
-- of the subtree with that secret have a cell that holds the place.
CREATE OR REPLACE VIEW holding AS
SELECT
    covering.unit,
    covering.attribute,
    covering.spot,
    secrets_held.secret,
    sum(secrets_held.people)::BIGINT AS people
FROM (
    SELECT
        wanted_cells.unit,
        wanted_cells.attribute,
        wanted_cells.spot,
        cells.class
    FROM wanted_cells
    JOIN kinds ON wanted_cells.attribute = kinds.attribute
    JOIN beneath ON wanted_cells.unit = beneath.unit
    JOIN cells ON beneath.class = cells.class AND wanted_cells.attribute = cells.attribute
    WHERE CASE
        WHEN wanted_cells.spot = kinds.missing THEN cells.missing
        ELSE wanted_cells.spot BETWEEN cells.smallest AND cells.largest
    END
    UNION ALL
    SELECT
        wanted_cells.unit,
        wanted_cells.attribute,
        wanted_cells.spot,
        held.class
    FROM wanted_cells
    JOIN kinds ON wanted_cells.attribute = kinds.attribute
    JOIN beneath ON wanted_cells.unit = beneath.unit
    JOIN held
        ON beneath.class = held.class AND wanted_cells.attribute = held.attribute
        AND wanted_cells.spot = held.spot
    WHERE NOT kinds.interval
) AS covering
JOIN secrets_held ON covering.class = secrets_held.class
GROUP BY covering.unit, covering.attribute, covering.spot, secrets_held.secret;

-- One row per target, release with (0) or without them (1), subtree of it with its sign, class in
-- the subtree and quasi-identifier whose cell there holds the target's value.
CREATE OR REPLACE VIEW bits AS
SELECT
    listed.target,
    listed.release,
    listed.unit,
    listed.sign,
    beneath.class,
    listed.attribute
FROM (
    SELECT
        parts.target,
        parts.release,
        parts.unit,
        parts.sign,
        unnest(targets.spots) AS spot,
        generate_subscripts(targets.spots, 1) AS attribute
    FROM (
        SELECT
            target,
            1 AS release,
            unit,
            sign
        FROM pieces
        UNION ALL
        SELECT
            target,
            0 AS release,
            0::BIGINT AS unit,
            1 AS sign
        FROM targets
    ) AS parts
    JOIN targets ON parts.target = targets.target
) AS listed
JOIN kinds ON listed.attribute = kinds.attribute
JOIN beneath ON listed.unit = beneath.unit
LEFT JOIN cells ON beneath.class = cells.class AND listed.attribute = cells.attribute
LEFT JOIN held
    ON NOT kinds.interval AND beneath.class = held.class AND listed.attribute = held.attribute
    AND listed.spot = held.spot
WHERE CASE
    WHEN NOT kinds.interval THEN held.class IS NOT NULL
    WHEN listed.spot = kinds.missing THEN cells.missing
    ELSE listed.spot BETWEEN cells.smallest AND cells.largest
END;
