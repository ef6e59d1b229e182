-- One row per block for an adversary who may guess several times: `mode` is the weight of her
-- best guesses together.
CREATE OR REPLACE VIEW tries AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    list_sum(max(weight, (SELECT tries FROM asked))) AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;
