-- One row per different person of a block that goes on: blocks that took this attribute under
-- their new keys, blocks that dropped it with equal rows merged, and blocks whose turn comes later.
CREATE OR REPLACE VIEW onward AS
SELECT
    block,
    rest,
    word,
    turn
FROM (
    SELECT
        block,
        rest,
        word,
        turn
    FROM stripped
    UNION ALL
    SELECT
        block,
        rest,
        word,
        turn(state_of(block)) AS turn
    FROM (
        SELECT
            block & ~getvariable('bit') AS block,
            rest & getvariable('later') AS rest,
            sum(word)::HUGEINT AS word
        FROM live
        WHERE turn = getvariable('this') AND may_drop(state_of(block))
        GROUP BY ALL
    ) AS dropped
    UNION ALL
    SELECT
        block,
        rest,
        word,
        turn
    FROM live
    WHERE turn >= getvariable('two') AND (turn & getvariable('bit')) = 0
) AS people;
