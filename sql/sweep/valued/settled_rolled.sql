-- One row per kind of block by the attributes that are taken.
CREATE OR REPLACE VIEW settled_rolled AS
SELECT
    getvariable('state') AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        sum(word)::BIGINT AS size,
        max(word)::BIGINT AS mode,
        count(*) AS "values"
    FROM rolled
    GROUP BY entry, rest >> getvariable('secret_bits')
) AS blocks
GROUP BY ALL;
