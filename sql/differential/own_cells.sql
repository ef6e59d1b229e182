-- One row per target and quasi-identifier whose cell in their class, without them, holds their
-- value.
CREATE OR REPLACE VIEW own_cells AS
SELECT
    listed.target,
    listed.class,
    listed.attribute
FROM (
    SELECT
        parted.target,
        parted.class,
        unnest(targets.spots) AS spot,
        generate_subscripts(targets.spots, 1) AS attribute
    FROM parted JOIN targets ON parted.target = targets.target
) AS listed
JOIN kinds ON listed.attribute = kinds.attribute
JOIN held
    ON listed.class = held.class AND listed.attribute = held.attribute AND listed.spot = held.spot
LEFT JOIN cells ON listed.class = cells.class AND listed.attribute = cells.attribute
WHERE
    held.people > 1
    OR (
        kinds.interval AND listed.spot <> kinds.missing
        AND cells.least < listed.spot AND listed.spot < cells.greatest
    );
