-- One row per node with everybody in it: how it is cut, and the node of those below the cut.
CREATE OR REPLACE VIEW clean AS
SELECT
    node,
    attribute,
    cut,
    inside AS child
FROM settled
WHERE target = 0;
