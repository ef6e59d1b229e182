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
