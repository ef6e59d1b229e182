-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the people of the most frequent value over
-- those of the values from number l on.
CREATE OR REPLACE VIEW of_l_recursive_c AS
SELECT
    qid,
    blocks,
    members,
    size,
    mode AS part,
    tail AS whole,
    false AS logarithm,
    CASE WHEN tail = 0 THEN 'infinity'::DOUBLE ELSE mode / tail END AS score
FROM tails;
