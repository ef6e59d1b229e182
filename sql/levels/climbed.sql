-- One row per block: how far probability moves from the release to the block through the
-- hierarchy, times size and people: the sum over the levels of what moves between the nodes of a
-- level.
CREATE OR REPLACE VIEW climbed AS
SELECT
    branches.qid,
    any_value(branches.blocks) AS blocks,
    any_value(branches.size) AS size,
    coalesce(any_value(branches.stand), any_value(branches.size)) AS members,
    any_value(whole.people) AS whole_people,
    sum(
        greatest(0, branches.people * whole.people - whole.one * branches.everybody * branches.size)
    )::HUGEINT AS moved
FROM branches
CROSS JOIN whole
GROUP BY branches.qid;
