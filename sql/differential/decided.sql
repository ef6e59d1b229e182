-- One row per question: the widest quasi-identifier whose cut nearest to the median leaves k on both
-- sides, and that cut; 0 where there is none. Of equally wide ones the first, of two cuts as near
-- the one that leaves more below it. Questions that a limit on the secret judges alike have the
-- same part: whether the target is below the cut, and their secret.
CREATE OR REPLACE VIEW decided AS
SELECT
    items.node,
    items.target,
    items.root,
    items.tried,
    coalesce(best.attribute, 0) AS attribute,
    best.cut,
    list_extract(targets.spots, best.attribute) <= best.cut AS below,
    targets.secret,
    roots.secret AS world,
    dense_rank() OVER (
        ORDER BY
            items.node,
            best.attribute,
            best.cut,
            list_extract(targets.spots, best.attribute) <= best.cut,
            targets.secret,
            roots.secret
    ) AS part
FROM items
JOIN roots ON items.root = roots.root
LEFT JOIN targets ON items.target = targets.target
LEFT JOIN (
    SELECT
        node,
        target,
        arg_min(attribute, (-width, attribute)) AS attribute,
        arg_min(cut, (-width, attribute)) AS cut
    FROM (
        SELECT
            node,
            target,
            attribute,
            any_value(width) AS width,
            any_value(size) AS size,
            arg_min(cut, (2 * abs(2 * below - size) + (2 * below < size)::BIGINT, cut)) AS cut,
            arg_min(below, (2 * abs(2 * below - size) + (2 * below < size)::BIGINT, cut)) AS below
        FROM (
            SELECT
                node,
                target,
                attribute,
                width,
                size,
                cut,
                below_all - coalesce(own <= cut, FALSE)::BIGINT AS below
            FROM (
                SELECT
                    node,
                    target,
                    attribute,
                    own,
                    width,
                    size,
                    unnest(cuts) AS cut,
                    unnest(belows) AS below_all
                FROM measured
            ) AS listed
        ) AS ways
        WHERE below BETWEEN 1 AND size - 1
        GROUP BY node, target, attribute
    ) AS nearest
    WHERE least(below, size - below) >= wanted_k
    GROUP BY node, target
) AS best ON items.node = best.node AND items.target = best.target;
