-- One row per block by the attributes that are kept, from the blocks by one attribute more.
CREATE OR REPLACE VIEW rolled AS
SELECT
    entry & getvariable('kept_entry') AS entry,
    rest & getvariable('kept') AS rest,
    sum(word)::HUGEINT AS word
FROM finer
GROUP BY ALL;
