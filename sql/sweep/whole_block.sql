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
