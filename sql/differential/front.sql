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
