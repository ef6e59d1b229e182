-- One row per different person of a part, numbered from 1 in the order of the places.
CREATE OR REPLACE VIEW near AS
SELECT
    part,
    row_number() OVER (PARTITION BY part ORDER BY place) AS id,
    place,
    people
FROM done;
