-- One row: the one block of all people of the chunk.
CREATE OR REPLACE VIEW whole_block AS
SELECT
    getvariable('state') AS state,
    sum(people)::BIGINT AS size,
    max(people)::BIGINT AS mode,
    count(*) AS "values",
    1::BIGINT AS blocks
FROM (
    SELECT sum(word)::BIGINT AS people
    FROM coded
    WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
    GROUP BY rest & getvariable('secret')
) AS cells;
