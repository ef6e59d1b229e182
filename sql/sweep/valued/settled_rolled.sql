-- One row per kind of block by the attributes that are kept.
CREATE OR REPLACE VIEW settled_rolled AS
SELECT
    getvariable('state') AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        sum(people)::BIGINT AS size,
        max(people)::BIGINT AS mode,
        count(*) AS "values"
    FROM (
        SELECT
            packed_key & getvariable('kept') AS cell,
            sum(word)::BIGINT AS people
        FROM finer
        GROUP BY cell
    ) AS cells
    GROUP BY cell >> getvariable('secret_bits')
) AS blocks
GROUP BY ALL;
