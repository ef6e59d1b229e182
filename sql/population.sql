-- People who may be in a release: the risk of being found by somebody who does not know who is in it.

-- One row: the risk of being found in a population by somebody who does not know who is in the
-- release. The highest and the mean of 1 / people of the population with the same
-- quasi-identifiers, over the people of the release; in how many blocks these are fewer than in
-- the release.
CREATE OR REPLACE VIEW journalist AS
SELECT
    max(1 / population.size) AS highest,
    sum((blocks.size / population.size * pow(2, 60))::HUGEINT) / pow(2, 60) / sum(blocks.size) AS mean,
    count(*) FILTER (WHERE population.size IS NULL OR population.size < blocks.size) AS too_small
FROM blocks
LEFT JOIN population ON population.qid IS NOT DISTINCT FROM blocks.qid;
