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
        ELSE wanted_cells.spot BETWEEN cells.least AND cells.greatest
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
