-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the mean difference of the shares up to each
-- value.
CREATE OR REPLACE VIEW of_t_ordered AS
SELECT
    qid,
    blocks,
    members,
    size,
    moved AS part,
    size * whole_people * greatest(whole_values - 1, 1) AS whole,
    false AS logarithm,
    moved / (size * whole_people * greatest(whole_values - 1, 1)) AS score
FROM ordered;
