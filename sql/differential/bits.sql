-- One row per target, release with (0) or without them (1), subtree of it with its sign, class in
-- the subtree and quasi-identifier whose cell there holds the target's value.
CREATE OR REPLACE VIEW bits AS
SELECT
    listed.target,
    listed.release,
    listed.unit,
    listed.sign,
    beneath.class,
    listed.attribute
FROM (
    SELECT
        parts.target,
        parts.release,
        parts.unit,
        parts.sign,
        unnest(targets.spots) AS spot,
        generate_subscripts(targets.spots, 1) AS attribute
    FROM (
        SELECT
            target,
            1 AS release,
            unit,
            sign
        FROM pieces
        UNION ALL
        SELECT
            target,
            0 AS release,
            0::BIGINT AS unit,
            1 AS sign
        FROM targets
    ) AS parts
    JOIN targets ON parts.target = targets.target
) AS listed
JOIN kinds ON listed.attribute = kinds.attribute
JOIN beneath ON listed.unit = beneath.unit
LEFT JOIN cells ON beneath.class = cells.class AND listed.attribute = cells.attribute
LEFT JOIN held
    ON NOT kinds.interval AND beneath.class = held.class AND listed.attribute = held.attribute
    AND listed.spot = held.spot
WHERE CASE
    WHEN NOT kinds.interval THEN held.class IS NOT NULL
    WHEN listed.spot = kinds.missing THEN cells.missing
    ELSE listed.spot BETWEEN cells.least AND cells.greatest
END;
