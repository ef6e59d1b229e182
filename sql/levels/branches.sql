-- One row per block and node of the hierarchy that has people of it below: how many they are.
CREATE OR REPLACE VIEW branches AS
SELECT
    sized.qid,
    ancestors.level,
    ancestors.node,
    any_value(sized.blocks) AS blocks,
    any_value(sized.size) AS size,
    any_value(sized.stand) AS stand,
    any_value(ancestors.everybody) AS everybody,
    sum(sized.people)::BIGINT AS people,
    count(*) AS "values"
FROM sized
JOIN ancestors ON ancestors.place = sized.place
GROUP BY sized.qid, ancestors.level, ancestors.node;
