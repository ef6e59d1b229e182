-- One row per value of the secret and level of its hierarchy, from 0, the value itself: the node
-- above the value there, and how many people are below that node.
CREATE OR REPLACE VIEW ancestors AS
SELECT
    places.place,
    rungs.level,
    rungs.node,
    sum(places.everybody) OVER (PARTITION BY rungs.level, rungs.node)::BIGINT AS everybody
FROM places
JOIN rungs ON rungs.leaf IS NOT DISTINCT FROM places.value::VARCHAR;
