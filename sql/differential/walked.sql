-- One row per node through which a target goes.
CREATE OR REPLACE VIEW walked AS
SELECT
    target,
    depth,
    node,
    attribute,
    cut,
    beside
FROM settled
WHERE target > 0;
