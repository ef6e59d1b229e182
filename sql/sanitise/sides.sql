-- One row per box and column that can be cut: from where to where it reaches.
CREATE OR REPLACE VIEW sides AS
SELECT
    boxes.node,
    unnest([low]) AS low_end,
    unnest([high]) AS high_end,
    generate_subscripts([low], 1) AS side
FROM boxes INNER JOIN loads ON boxes.node = loads.node
WHERE loads.boxes > 8 AND loads.points * loads.boxes > 4096;
