-- One row per level of the hierarchy: the blocks of several values that are all below one node
-- there, the people in them, and the share of the people that the largest node has in all.
CREATE OR REPLACE VIEW alike AS
SELECT
    levels_of.level,
    levels_of.everybody,
    coalesce(sum(found.blocks), 0)::BIGINT AS blocks,
    coalesce(sum(found.blocks * coalesce(found.stand, found.size)), 0)::BIGINT AS people
FROM (SELECT level, max(everybody) AS everybody FROM ancestors GROUP BY level) AS levels_of
LEFT JOIN (SELECT * FROM branches WHERE people = size AND "values" > 1) AS found
    ON found.level = levels_of.level
WHERE levels_of.level > 0
GROUP BY levels_of.level, levels_of.everybody;
