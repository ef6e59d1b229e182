-- One row per block, the people whom the adversary cannot tell apart:
-- how many they are, what they weigh (here one each), how many share the most frequent value of
-- the secret (the adversary's best guess is right for these), how many values occur.
CREATE OR REPLACE VIEW blocks AS
SELECT
    qid,
    sum(weight)::BIGINT AS size,
    sum(weight)::BIGINT AS weight,
    max(weight) AS mode,
    1::BIGINT AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;
