-- One row per block: its level, as part over whole (of which the logarithm counts, or not), and a
-- score that is higher for what is worse. The level: the share of the most frequent value.
CREATE OR REPLACE VIEW of_alpha AS
SELECT
    qid,
    blocks,
    members,
    size,
    mode AS part,
    size AS whole,
    false AS logarithm,
    mode / size AS score
FROM grades;
