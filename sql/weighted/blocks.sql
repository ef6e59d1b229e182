-- One row per block, the people whom the adversary cannot tell apart:
-- how many they are, their weight, the weight of the most likely value of the secret,
-- the weight of the most likely person, and how many values occur.
CREATE OR REPLACE VIEW blocks AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    max(weight) AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;
