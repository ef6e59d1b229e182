-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the mean over the levels of the hierarchy of
-- what moves between the nodes of a level.
CREATE OR REPLACE VIEW of_t_hierarchical AS
SELECT
    qid,
    blocks,
    members,
    size,
    moved AS part,
    size * whole_people * hierarchy_height.height AS whole,
    false AS logarithm,
    moved / (size * whole_people * hierarchy_height.height) AS score
FROM climbed
CROSS JOIN hierarchy_height;
