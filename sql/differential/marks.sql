-- One row per open node and quasi-identifier: the ends of its places with the next ones inside, and
-- the two cuts on either side of the median with how many are below them.
CREATE OR REPLACE VIEW marks AS
SELECT
    node,
    attribute,
    any_value(size) AS size,
    min(spot) AS least,
    max(spot) AS greatest,
    arg_min(people, spot) AS least_people,
    arg_max(people, spot) AS greatest_people,
    list_extract(min(spot, 2), 2) AS second_least,
    list_extract(max(spot, 2), 2) AS second_greatest,
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
