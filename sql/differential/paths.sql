-- One row per question that is settled: the cut, the node in which the target is then, and the one
-- beside it; attribute 0 where the node is a class.
CREATE OR REPLACE VIEW paths AS
SELECT
    target,
    depth,
    node,
    root,
    attribute,
    cut,
    inside,
    beside
FROM (
    SELECT
        accepted.target,
        getvariable('depth')::BIGINT AS depth,
        accepted.node,
        accepted.root,
        accepted.attribute,
        accepted.cut,
        children.child + (NOT coalesce(accepted.below, TRUE))::BIGINT AS inside,
        children.child + coalesce(accepted.below, TRUE)::BIGINT AS beside
    FROM accepted JOIN children USING (node, attribute, cut)
    UNION ALL
    SELECT
        target,
        getvariable('depth')::BIGINT AS depth,
        node,
        root,
        0::BIGINT AS attribute,
        NULL AS cut,
        NULL AS inside,
        NULL AS beside
    FROM decided
    WHERE attribute = 0
) AS both;
