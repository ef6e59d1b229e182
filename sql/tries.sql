-- One row per block for an adversary who may guess several times: `mode` is the weight of her
-- best guesses together.
CREATE OR REPLACE VIEW tries AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    CASE
        WHEN count(*) <= (SELECT tries FROM asked) THEN sum(weight)
        ELSE list_sum(max(weight, (SELECT least(tries, 999999) FROM asked)))
    END AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;
