-- One row per kind of block that takes one of the two attributes that vary in the block before.
CREATE OR REPLACE VIEW settled_parts AS
SELECT
    take(state, getvariable('chosen')) AS state,
    word,
    blocks
FROM (
    SELECT
        state_of(block) AS state,
        word,
        count(*) AS blocks
    FROM (
        SELECT
            block,
            sum(word)::HUGEINT AS word
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, rest & getvariable('seen')
    ) AS parts
    GROUP BY ALL
) AS kinds;
