-- One row per block of a sample with weights, each of which is how many people of the population a
-- record stands for: its people, and the share of the block's people in the population that they
-- are expected to be.
CREATE OR REPLACE VIEW weighted_crowds AS
SELECT
    qid,
    count(*) AS size,
    least(count(*) * (SELECT unit FROM asked) / sum(weight)::DOUBLE, 1.0) AS share
FROM microdata
GROUP BY qid;
