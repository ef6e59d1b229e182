-- One row per class, quasi-identifier and place in it: how many people.
CREATE OR REPLACE VIEW held AS
SELECT
    node AS class,
    attribute,
    spot,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        node,
        people,
        unnest([place]) AS spot,
        generate_subscripts([place], 1) AS attribute
    FROM members
) AS listed
GROUP BY node, attribute, spot;
