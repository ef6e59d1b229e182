-- One row per block by the attributes that are kept, from the blocks by one attribute more.
CREATE OR REPLACE VIEW rolled AS
SELECT
    packed_key & getvariable('kept') AS packed_key,
    sum(word)::HUGEINT AS word
FROM finer
GROUP BY ALL;
