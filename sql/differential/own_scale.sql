-- One row per tree of a target's own, quasi-identifier and place that is another one there. Values
-- without distances lie evenly between 0 and 2^30, and one of them is missing.
CREATE OR REPLACE VIEW own_scale AS
SELECT
    root,
    attribute,
    spot_of_all,
    spot
FROM (
    SELECT
        roots.root,
        moved.attribute,
        moved.spot_of_all,
        moved.spot
    FROM roots
    JOIN targets ON roots.target = targets.target
    JOIN moved ON list_extract(targets.spots, moved.attribute) = moved.lonely_spot
    UNION ALL
    SELECT
        roots.root,
        alone.attribute,
        nominal.spot AS spot_of_all,
        floor(
            (nominal.code - (nominal.code > alone.code)::BIGINT) / (alone."values" - 2) * 1073741824
        )::BIGINT AS spot
    FROM roots
    JOIN targets ON roots.target = targets.target
    JOIN alone ON list_extract(targets.spots, alone.attribute) = alone.spot
    JOIN nominal ON alone.attribute = nominal.attribute AND alone.code <> nominal.code
) AS both;
