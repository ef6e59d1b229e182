-- The releases without each target, as one forest of Mondrian cuts.

-- One row per tree: 0 is that of the whole release. Where a limit is about the distribution of the
-- secret, one for each secret that somebody takes away. One for each target without whom a scale
-- changes: its root holds the others alone.
CREATE OR REPLACE VIEW roots AS
SELECT
    row_number() OVER (ORDER BY target NULLS FIRST, secret NULLS FIRST) - 1 AS root,
    secret,
    target
FROM (
    SELECT
        NULL::INTEGER AS secret,
        NULL::BIGINT AS target
    UNION ALL
    SELECT DISTINCT
        secret,
        NULL::BIGINT AS target
    FROM targets
    WHERE wanted_worlds = 1
    UNION ALL
    SELECT DISTINCT
        CASE WHEN wanted_worlds = 1 THEN targets.secret END AS secret,
        targets.target
    FROM targets JOIN rescaled ON targets.target = rescaled.target
) AS every_root;

-- One row per target: the tree that is followed without them; whether it was made for them alone.
CREATE OR REPLACE VIEW homes AS
SELECT
    targets.target,
    roots.root,
    roots.target IS NOT NULL AS alone
FROM targets JOIN roots
    ON CASE
        WHEN targets.target IN (SELECT target FROM rescaled)
        THEN roots.target IS NOT DISTINCT FROM targets.target
        ELSE
            roots.target IS NULL
            AND roots.secret IS NOT DISTINCT FROM CASE WHEN wanted_worlds = 1 THEN targets.secret END
    END;

-- One row per tree and different person in it: how many people.
CREATE OR REPLACE VIEW planted AS
SELECT
    roots.root AS node,
    place,
    secrets,
    different.people - coalesce(different.person = roots.target, FALSE)::BIGINT AS people
FROM different CROSS JOIN roots
WHERE different.people > coalesce(different.person = roots.target, FALSE)::BIGINT;

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

-- One row per open node and quasi-identifier: the ends of its places with the next ones inside, and
-- the two cuts on either side of the median with how many are below them.
CREATE OR REPLACE VIEW marks AS
SELECT
    node,
    attribute,
    any_value(size) AS size,
    min(spot) AS smallest,
    max(spot) AS largest,
    arg_min(people, spot) AS smallest_people,
    arg_max(people, spot) AS largest_people,
    list_extract(min(spot, 2), 2) AS second_smallest,
    list_extract(max(spot, 2), 2) AS second_largest,
    list_concat(
        coalesce(arg_max(spot, below, 2) FILTER (WHERE 2 * below <= size), []),
        coalesce(arg_min(spot, below, 2) FILTER (WHERE 2 * below > size AND below < size), [])
    ) AS cuts,
    list_concat(
        coalesce(max(below, 2) FILTER (WHERE 2 * below <= size), []),
        coalesce(min(below, 2) FILTER (WHERE 2 * below > size AND below < size), [])
    ) AS belows
FROM (
    SELECT
        node,
        attribute,
        spot,
        people,
        sum(people) OVER (PARTITION BY node, attribute ORDER BY spot)::BIGINT AS below,
        sum(people) OVER (PARTITION BY node, attribute)::BIGINT AS size
    FROM (
        SELECT
            node,
            attribute,
            spot,
            sum(people)::BIGINT AS people
        FROM (
            SELECT
                node,
                people,
                unnest([place]) AS spot,
                generate_subscripts([place], 1) AS attribute
            FROM people
        ) AS listed
        GROUP BY node, attribute, spot
    ) AS tallied
) AS added
GROUP BY node, attribute;

-- One row per question and quasi-identifier not tried yet that is worth cutting: how wide it is
-- without the target, on the scale of its tree.
CREATE OR REPLACE VIEW measured AS
SELECT
    asked.node,
    asked.target,
    asked.attribute,
    asked.own,
    coalesce(upper_end.spot, asked.last) - coalesce(lower_end.spot, asked.first) AS width,
    asked.size,
    asked.cuts,
    asked.belows
FROM (
    SELECT
        items.node,
        items.target,
        items.root,
        marks.attribute,
        list_extract(targets.spots, marks.attribute) AS own,
        CASE
            WHEN list_extract(targets.spots, marks.attribute) = marks.smallest AND marks.smallest_people = 1
            THEN coalesce(marks.second_smallest, marks.smallest)
            ELSE marks.smallest
        END AS first,
        CASE
            WHEN list_extract(targets.spots, marks.attribute) = marks.largest AND marks.largest_people = 1
            THEN coalesce(marks.second_largest, marks.largest)
            ELSE marks.largest
        END AS last,
        marks.size - (items.target > 0)::BIGINT AS size,
        marks.cuts,
        marks.belows
    FROM items
    JOIN marks ON items.node = marks.node AND (items.tried >> (marks.attribute - 1)) & 1 = 0
    LEFT JOIN targets ON items.target = targets.target
) AS asked
LEFT JOIN own_scale AS lower_end
    ON asked.root = lower_end.root AND asked.attribute = lower_end.attribute
    AND asked.first = lower_end.spot_of_all
LEFT JOIN own_scale AS upper_end
    ON asked.root = upper_end.root AND asked.attribute = upper_end.attribute
    AND asked.last = upper_end.spot_of_all
WHERE asked.last > asked.first;

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

-- One row per part of questions, side of its cut and secret: how many people, without the target.
-- Secrets are numbered as in the release in which limits are judged, which one may lack.
CREATE OR REPLACE VIEW sides AS
SELECT
    part,
    side,
    secrets - (secrets > wanted_gone)::INTEGER AS secrets,
    people
FROM (
    SELECT
        judged.part,
        halves.side,
        secrets,
        halves.people
        - coalesce(judged.below <> halves.side AND judged.secret = halves.secret, FALSE)::BIGINT AS people
    FROM (
        SELECT DISTINCT
            part,
            node,
            attribute,
            cut,
            below,
            secret
        FROM decided
        WHERE attribute > 0 AND coalesce(world, -1) = wanted_world
    ) AS judged
    JOIN (
        SELECT
            people.node,
            found.attribute,
            found.cut,
            [place][attribute] > cut AS side,
            secrets,
            any_value([secrets][1]) AS secret,
            sum(people)::BIGINT AS people
        FROM people JOIN (
            SELECT DISTINCT
                node,
                attribute,
                cut
            FROM decided
            WHERE attribute > 0 AND coalesce(world, -1) = wanted_world
        ) AS found ON people.node = found.node
        GROUP BY people.node, found.attribute, found.cut, side, secrets
    ) AS halves
        ON judged.node = halves.node AND judged.attribute = halves.attribute
        AND judged.cut = halves.cut
) AS without_target
WHERE people > 0;

-- One row per question whose cut keeps every limit.
CREATE OR REPLACE VIEW accepted AS
SELECT
    decided.node,
    decided.target,
    decided.root,
    decided.attribute,
    decided.cut,
    decided.below
FROM decided ANTI JOIN refused ON decided.part = refused.part
WHERE decided.attribute > 0;

-- One row per cut of a node that is new: the number of the node of those below it; those above have
-- the next number.
CREATE OR REPLACE VIEW children AS
SELECT
    node,
    attribute,
    cut,
    getvariable('last')::BIGINT + 2 * row_number() OVER () AS child
FROM (
    SELECT DISTINCT
        node,
        attribute,
        cut
    FROM accepted
) AS made
ANTI JOIN children USING (node, attribute, cut);

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

-- One row per node with everybody in it: how it is cut, and the node of those below the cut.
CREATE OR REPLACE VIEW clean AS
SELECT
    node,
    attribute,
    cut,
    inside AS child
FROM settled
WHERE target = 0;

-- One row per node through which a target goes.
CREATE OR REPLACE VIEW walked AS
SELECT
    target,
    depth,
    node,
    attribute,
    cut,
    beside
FROM settled
WHERE target > 0;

-- One row per class, with or without a target, and different person in it: how many people.
CREATE OR REPLACE VIEW members AS
SELECT
    node,
    place,
    secrets,
    people
FROM people
SEMI JOIN (SELECT DISTINCT node FROM decided WHERE attribute = 0) AS ended USING (node)
ANTI JOIN members USING (node);

-- One row per node about which it was not asked before how it is cut with everybody in it.
CREATE OR REPLACE VIEW known AS
SELECT node
FROM items ANTI JOIN known USING (node)
WHERE target = 0;

-- One row per question that comes next: about both halves with everybody, about the half of the
-- target without them; and again, with the next widest quasi-identifier, where a cut was refused.
CREATE OR REPLACE VIEW items_next AS
SELECT
    node,
    target,
    root,
    tried
FROM (
    SELECT
        decided.node,
        decided.target,
        decided.root,
        decided.tried | (1::BIGINT << (decided.attribute - 1)) AS tried
    FROM decided SEMI JOIN refused ON decided.part = refused.part
    WHERE decided.attribute > 0
    UNION ALL
    SELECT
        settled.inside AS node,
        settled.target,
        settled.root,
        0::BIGINT AS tried
    FROM settled
    WHERE settled.attribute > 0 AND settled.target > 0
    UNION ALL
    SELECT
        node,
        0::BIGINT AS target,
        root,
        0::BIGINT AS tried
    FROM (
        SELECT DISTINCT
            beside AS node,
            root
        FROM settled
        WHERE attribute > 0
        UNION
        SELECT DISTINCT
            inside AS node,
            root
        FROM settled
        WHERE attribute > 0 AND target = 0
    ) AS whole_halves
    ANTI JOIN known USING (node)
) AS next_ones;

-- One row per node that questions are about and different person in it: how many people.
CREATE OR REPLACE VIEW people_next AS
SELECT
    node,
    place,
    secrets,
    people
FROM (
    SELECT
        node,
        place,
        secrets,
        people
    FROM people SEMI JOIN items_next USING (node)
    UNION ALL
    SELECT
        node,
        place,
        secrets,
        people
    FROM (
        SELECT
            cuts.child + ([place][attribute] > cut)::BIGINT AS node,
            place,
            secrets,
            people
        FROM people JOIN (
            SELECT
                children.node AS parent,
                children.attribute,
                children.cut,
                children.child
            FROM children SEMI JOIN accepted USING (node, attribute, cut)
        ) AS cuts ON people.node = cuts.parent
    ) AS halves
    SEMI JOIN (SELECT DISTINCT node FROM items_next) AS opened USING (node)
    ANTI JOIN (SELECT DISTINCT node FROM people) AS open_before USING (node)
) AS both;
