-- One row per kind of block by the attributes that are kept.
CREATE OR REPLACE VIEW settled_rolled AS
SELECT
    getvariable('state') AS state,
    word,
    count(*) AS blocks
FROM (
    SELECT sum(word)::HUGEINT AS word
    FROM finer
    GROUP BY packed_key & getvariable('kept')
) AS blocks
GROUP BY ALL;
