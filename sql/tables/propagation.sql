-- Propagation of bounds between margins: what a cell may be, given the cells that add up to it.

-- One row per margin cell and kind of finer cells: what these are at least and at most together.
CREATE OR REPLACE VIEW finer_sums AS
SELECT
    edges.parent,
    edges.node,
    coalesce(sum(active.lower), 0)::BIGINT AS lowers,
    coalesce(sum(active.upper), 0)::BIGINT AS uppers
FROM edges
LEFT JOIN active ON edges.child = active.cell
GROUP BY edges.parent, edges.node;

-- One row per cell: its bounds after one round. A margin is the sum of its finer cells; a cell is its
-- margin less the other cells of it.
CREATE OR REPLACE VIEW tightened AS
SELECT
    active.cell,
    active.component,
    greatest(active.lower, coalesce(finer.lowers, 0), coalesce(coarser.lower, 0)) AS lower,
    least(active.upper, coalesce(finer.uppers, active.upper), coalesce(coarser.upper, active.upper)) AS upper
FROM active
LEFT JOIN (
    SELECT
        parent,
        max(lowers) AS lowers,
        min(uppers) AS uppers
    FROM finer_sums
    GROUP BY parent
) AS finer ON finer.parent = active.cell
LEFT JOIN (
    SELECT
        edges.child,
        max(parents.lower - finer_sums.uppers + children.upper) AS lower,
        min(parents.upper - finer_sums.lowers + children.lower) AS upper
    FROM edges
    INNER JOIN finer_sums ON finer_sums.parent = edges.parent AND finer_sums.node = edges.node
    INNER JOIN active AS parents ON parents.cell = edges.parent
    INNER JOIN active AS children ON children.cell = edges.child
    GROUP BY edges.child
) AS coarser ON coarser.child = active.cell;

-- One row per component whose bounds a round has changed; of a contradiction `empty` is true.
CREATE OR REPLACE VIEW changed AS
SELECT
    tightened.component,
    bool_or(tightened.lower > tightened.upper) AS empty
FROM tightened
INNER JOIN active ON active.cell = tightened.cell
WHERE tightened.lower <> active.lower OR tightened.upper <> active.upper
GROUP BY tightened.component;

-- One row per cell of components that the last round has not changed.
CREATE OR REPLACE VIEW settled AS
SELECT
    tightened.cell,
    tightened.lower,
    tightened.upper
FROM tightened
ANTI JOIN changed ON changed.component = tightened.component;

-- One row per cell of components that the last round has changed.
CREATE OR REPLACE VIEW unsettled AS
SELECT tightened.*
FROM tightened
SEMI JOIN changed ON changed.component = tightened.component;

-- One row per pair of a margin cell and one of its finer cells, of components that are changing.
CREATE OR REPLACE VIEW unsettled_edges AS
SELECT edges.*
FROM edges
SEMI JOIN changed ON changed.component = edges.component;

-- One row: how many components have changed, and whether one of them is contradicted.
CREATE OR REPLACE VIEW moving AS
SELECT
    count(*) AS components,
    coalesce(bool_or(empty), FALSE) AS empty
FROM changed;
