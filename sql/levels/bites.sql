-- One row: blocks of one value and the people in them; blocks of two values, the people in them
-- and those among them who have the likelier one; blocks in which a value is at least so many
-- times as likely as in the release, and the people in them.
CREATE OR REPLACE VIEW bites AS
SELECT
    coalesce(sum(blocks) FILTER (WHERE "values" = 1), 0)::BIGINT AS one_blocks,
    coalesce(sum(blocks * members) FILTER (WHERE "values" = 1), 0)::BIGINT AS one_people,
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
