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
