-- One row per subtree and class in it.
CREATE OR REPLACE VIEW beneath AS
SELECT
    front.unit,
    front.node AS class
FROM front JOIN clean ON front.node = clean.node
WHERE clean.attribute = 0;
