-- One row: blocks of the release with more people than the population has there.
CREATE OR REPLACE VIEW outside AS
SELECT
    count(*) AS blocks,
    count(*) FILTER (WHERE population.size IS NULL OR population.size < blocks.size) AS too_small
FROM blocks
LEFT JOIN population ON population.qid IS NOT DISTINCT FROM blocks.qid;
