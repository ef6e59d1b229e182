-- The roll-up: each subset of a chunk from one with an attribute more.

-- One row per different person of a chunk, with all codes in one key.
CREATE OR REPLACE VIEW chosen_rows AS
SELECT
    packed(entry, rest) AS packed_key,
    word
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest');

-- One row per different person of a chunk, with all codes in one key: the values of one attribute
-- in pairs of neighbours, the missing one alone.
CREATE OR REPLACE VIEW paired_rows AS
SELECT
    CASE
        WHEN packed_key & getvariable('code') = getvariable('missing') THEN packed_key
        ELSE packed_key & getvariable('pairs')
    END AS packed_key,
    word
FROM single_rows;

-- One row: about how many blocks there are by the attributes that are kept.
CREATE OR REPLACE VIEW about AS
SELECT approx_count_distinct(packed_key & getvariable('kept')) AS blocks
FROM finer;

-- One row per block by the attributes that are kept, from the blocks by one attribute more.
CREATE OR REPLACE VIEW rolled AS
SELECT
    packed_key & getvariable('kept') AS packed_key,
    sum(word)::HUGEINT AS word
FROM finer
GROUP BY ALL;

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

-- One row: the one block of all people of the chunk.
CREATE OR REPLACE VIEW whole_block AS
SELECT
    getvariable('state') AS state,
    word,
    1::BIGINT AS blocks
FROM (
    SELECT sum(word)::HUGEINT AS word
    FROM coded
    WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
) AS everybody;
