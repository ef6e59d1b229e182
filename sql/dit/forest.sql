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
    WHERE wanted_references = 1
    UNION ALL
    SELECT DISTINCT
        CASE WHEN wanted_references = 1 THEN targets.secret END AS secret,
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
            AND roots.secret IS NOT DISTINCT FROM CASE WHEN wanted_references = 1 THEN targets.secret END
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
-- without the target, on the scale of its tree. With a hierarchy, the width of the lowest node with all
-- values, and the cut into its children (fork).
{# measured(hierarchies=False), measured(hierarchies=True) #}
CREATE OR REPLACE VIEW measured AS
SELECT
    asked.node,
    asked.target,
    asked.attribute,
    {% if hierarchies %}
    any_value(asked.own) AS own,
    coalesce(
        min(branches.width),
        any_value(coalesce(upper_end.spot, asked.last) - coalesce(lower_end.spot, asked.first))
    ) AS width,
    any_value(asked.size) AS size,
    any_value(asked.cuts) AS cuts,
    any_value(asked.belows) AS belows,
    arg_min(branches.cut, branches.last_place - branches.first_place) AS fork
    {% else %}
    asked.own,
    coalesce(upper_end.spot, asked.last) - coalesce(lower_end.spot, asked.first) AS width,
    asked.size,
    asked.cuts,
    asked.belows,
    NULL::BIGINT AS fork
    {% endif %}
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
{% if hierarchies %}
LEFT JOIN branches
    ON asked.attribute = branches.attribute
    AND asked.first >= branches.first_place AND asked.last <= branches.last_place
{% endif %}
WHERE asked.last > asked.first
{{ "GROUP BY asked.node, asked.target, asked.attribute" if hierarchies }};

-- One row per fork that a question is about: how many people each child has, and how many children
-- have less than k.
CREATE OR REPLACE VIEW forks AS
SELECT
    node,
    attribute,
    cut,
    map(list(side), list(people)) AS people_of_sides,
    count(*) FILTER (WHERE people < wanted_k) AS small
FROM (
    SELECT
        people.node,
        attribute,
        cut,
        [place >> cut][attribute] AS side,
        sum(people)::BIGINT AS people
    FROM people JOIN (
        SELECT DISTINCT
            node,
            attribute,
            fork AS cut
        FROM measured
        WHERE fork IS NOT NULL
    ) AS found ON people.node = found.node
    GROUP BY people.node, attribute, cut, side
) AS children
GROUP BY node, attribute, cut;

-- One row per question: the widest quasi-identifier whose fork, or cut nearest to the median, leaves k
-- on all sides, and that cut; 0 where there is none. Of equally wide ones the first, of two cuts as
-- near the one that leaves more below it. Questions that a limit on the secret judges alike have the
-- same part: on which side of the cut the target is, and their secret.
{# decided(hierarchies=False), decided(hierarchies=True) #}
CREATE OR REPLACE VIEW decided AS
SELECT
    *,
    dense_rank() OVER (ORDER BY node, attribute, cut, side, secret, reference) AS part
FROM (
    SELECT
        items.node,
        items.target,
        items.root,
        items.tried,
        coalesce(best.attribute, 0) AS attribute,
        best.cut,
        CASE
            WHEN best.forked THEN list_extract(targets.spots, best.attribute) >> best.cut
            ELSE (list_extract(targets.spots, best.attribute) > best.cut)::BIGINT
        END AS side,
        targets.secret,
        roots.secret AS reference
    FROM items
    JOIN roots ON items.root = roots.root
    LEFT JOIN targets ON items.target = targets.target
    LEFT JOIN (
        SELECT
            node,
            target,
            arg_min(attribute, (-width, attribute)) AS attribute,
            arg_min(cut, (-width, attribute)) AS cut,
            arg_min(forked, (-width, attribute)) AS forked
        FROM (
            SELECT
                node,
                target,
                attribute,
                width,
                cut,
                FALSE AS forked
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
                        WHERE fork IS NULL
                    ) AS listed
                ) AS ways
                WHERE below BETWEEN 1 AND size - 1
                GROUP BY node, target, attribute
            ) AS nearest
            WHERE least(below, size - below) >= wanted_k
            {% if hierarchies %}
            UNION ALL
            SELECT
                node,
                target,
                attribute,
                width,
                cut,
                TRUE AS forked
            FROM (
                SELECT
                    measured.*,
                    forks.cut,
                    forks.small,
                    map_extract_value(forks.people_of_sides, measured.own >> forks.cut) AS beside_own
                FROM measured JOIN forks
                    ON measured.node = forks.node AND measured.attribute = forks.attribute
                    AND measured.fork = forks.cut
            ) AS forked
            WHERE
                small = coalesce(beside_own < wanted_k, FALSE)::BIGINT
                AND (own IS NULL OR beside_own = 1 OR beside_own > wanted_k)
            {% endif %}
        ) AS allowed
        GROUP BY node, target
    ) AS best ON items.node = best.node AND items.target = best.target
) AS cut_best;

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
        - coalesce(judged.side = halves.side AND judged.secret = halves.secret, FALSE)::BIGINT AS people
    FROM (
        SELECT DISTINCT
            part,
            node,
            attribute,
            cut,
            side,
            secret
        FROM decided
        WHERE attribute > 0 AND coalesce(reference, -1) = wanted_reference
    ) AS judged
    JOIN (
        SELECT
            people.node,
            found.attribute,
            found.cut,
            [CASE WHEN by_tree = 1 THEN place >> cut ELSE (place > cut)::BIGINT END][attribute] AS side,
            secrets,
            any_value([secrets][1]) AS secret,
            sum(people)::BIGINT AS people
        FROM people JOIN (
            SELECT DISTINCT
                node,
                attribute,
                cut
            FROM decided
            WHERE attribute > 0 AND coalesce(reference, -1) = wanted_reference
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
    decided.side
FROM decided ANTI JOIN refused ON decided.part = refused.part
WHERE decided.attribute > 0;

-- One row per side of a cut of a node that is new: the number of the node of those on it.
CREATE OR REPLACE VIEW children AS
SELECT
    node,
    attribute,
    cut,
    side,
    getvariable('last')::BIGINT + row_number() OVER () AS child
FROM (
    SELECT DISTINCT
        people.node,
        attribute,
        cut,
        [CASE WHEN by_tree = 1 THEN place >> cut ELSE (place > cut)::BIGINT END][attribute] AS side
    FROM people JOIN (
        SELECT DISTINCT
            node,
            attribute,
            cut
        FROM accepted ANTI JOIN children USING (node, attribute, cut)
    ) AS made ON people.node = made.node
) AS sides;

-- One row per question that is settled: the cut, and the node in which the target is then; attribute 0
-- where the node is a class.
CREATE OR REPLACE VIEW paths AS
SELECT
    target,
    depth,
    node,
    root,
    attribute,
    cut,
    inside
FROM (
    SELECT
        accepted.target,
        getvariable('depth')::BIGINT AS depth,
        accepted.node,
        accepted.root,
        accepted.attribute,
        accepted.cut,
        children.child AS inside
    FROM accepted LEFT JOIN children USING (node, attribute, cut, side)
    UNION ALL
    SELECT
        target,
        getvariable('depth')::BIGINT AS depth,
        node,
        root,
        0::BIGINT AS attribute,
        NULL AS cut,
        NULL AS inside
    FROM decided
    WHERE attribute = 0
) AS both;

-- One row per node with everybody in it: how it is cut.
CREATE OR REPLACE VIEW clean AS
SELECT
    node,
    attribute,
    cut
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
    inside
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

-- One row per question that comes next: about all sides with everybody, about the side of the
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
            children.child AS node,
            settled.root
        FROM settled JOIN children USING (node, attribute, cut)
        WHERE settled.attribute > 0 AND children.child IS DISTINCT FROM settled.inside
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
            cuts.child AS node,
            place,
            secrets,
            people
        FROM people JOIN (
            SELECT
                children.node AS parent,
                children.attribute,
                children.cut,
                children.side,
                children.child
            FROM children SEMI JOIN accepted USING (node, attribute, cut)
        ) AS cuts
            ON people.node = cuts.parent
            AND [CASE WHEN by_tree = 1 THEN place >> cut ELSE (place > cut)::BIGINT END][attribute] = side
    ) AS halves
    SEMI JOIN (SELECT DISTINCT node FROM items_next) AS opened USING (node)
    ANTI JOIN (SELECT DISTINCT node FROM people) AS open_before USING (node)
) AS both;
