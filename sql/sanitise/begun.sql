-- One row per cell that is a prefix and value that begins with it and has its length.
CREATE OR REPLACE VIEW begun AS
SELECT
    prefixes.id,
    beginnings.place
FROM (SELECT id, prefix, length FROM parsed WHERE prefix IS NOT NULL) AS prefixes
INNER JOIN (
    SELECT
        places.place,
        shapes.length,
        left(places.value::VARCHAR, shapes.characters) AS beginning
    FROM places
    INNER JOIN (
        SELECT DISTINCT
            length,
            length(prefix) AS characters
        FROM parsed
        WHERE prefix IS NOT NULL
    ) AS shapes ON length(places.value::VARCHAR) = shapes.length
) AS beginnings
    ON prefixes.length = beginnings.length AND prefixes.prefix = beginnings.beginning
        AND length(prefixes.prefix) = length(beginnings.beginning);
