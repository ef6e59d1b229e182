-- One row per block of a sample: its people, and the share of the block's people in the population
-- that they are expected to be.
CREATE OR REPLACE VIEW crowds AS
SELECT
    qid,
    count(*) AS size,
    (SELECT fraction FROM asked) AS share
FROM microdata
GROUP BY qid;
