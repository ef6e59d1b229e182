-- One row per block for an adversary whose guess of a number is right within a tolerance: `mode`
-- is the weight of all values that her best guess hits.
CREATE OR REPLACE VIEW tolerance AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    max(hit) AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM (
    SELECT
        cells.qid,
        cells.people,
        cells.weight,
        cells.heaviest,
        sum(cells.weight) OVER (
            PARTITION BY cells.qid
            ORDER BY reaches.code ASC
            RANGE BETWEEN CURRENT ROW AND (reaches.reach - reaches.code) FOLLOWING
        ) AS hit
    FROM cells
    JOIN reaches ON reaches.value IS NOT DISTINCT FROM cells.secret
) AS hits
GROUP BY qid;
