-- Four attacks on k and l, and whom they reach.

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

-- One row: blocks of at most one reported value and the people in them; blocks of two values, the people in them
-- and those among them who have the likelier one; blocks in which a value is at least so many
-- times as likely as in the release, and the people in them.
CREATE OR REPLACE VIEW bites AS
SELECT
    coalesce(sum(blocks) FILTER (WHERE reported <= 1), 0)::BIGINT AS one_blocks,
    coalesce(sum(blocks * members) FILTER (WHERE reported <= 1), 0)::BIGINT AS one_people,
    coalesce(sum(blocks) FILTER (WHERE "values" = 2), 0)::BIGINT AS two_blocks,
    coalesce(sum(blocks * members) FILTER (WHERE "values" = 2), 0)::BIGINT AS two_people,
    coalesce(sum(blocks * mode) FILTER (WHERE "values" = 2), 0)::BIGINT AS two_likelier,
    coalesce(sum(blocks) FILTER (WHERE skewed), 0)::BIGINT AS skewed_blocks,
    coalesce(sum(blocks * members) FILTER (WHERE skewed), 0)::BIGINT AS skewed_people
FROM (
    SELECT
        grades.*,
        round(highest * highest_everybody)::HUGEINT * whole.people * skew.divisor
            >= skew.factor * size * highest_everybody AS skewed
    FROM grades
    CROSS JOIN whole
    CROSS JOIN skew
) AS graded;
