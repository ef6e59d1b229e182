-- One row per question about a root: how it is cut with everybody in it (target 0), and without a
-- target.
CREATE OR REPLACE VIEW begun AS
SELECT
    node,
    target,
    root,
    tried
FROM (
    SELECT
        root AS node,
        0::BIGINT AS target,
        root,
        0::BIGINT AS tried
    FROM roots
    UNION ALL
    SELECT
        homes.root AS node,
        homes.target,
        homes.root,
        0::BIGINT AS tried
    FROM homes
    WHERE NOT homes.alone
) AS both;
