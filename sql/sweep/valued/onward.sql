-- One row per different person of a block that goes on: blocks that took this attribute under
-- their new keys, blocks that dropped it with equal rows merged, and blocks whose turn comes later.
-- People whose value of the secret nobody else in their new block has forget it: so they merge, too.
CREATE OR REPLACE VIEW onward AS
SELECT
    block,
    rest,
    word,
    turn
FROM (
    SELECT
        shared.child AS block,
        live.rest & getvariable('later') AS rest,
        live.word,
        shared.turn
    FROM live
    INNER JOIN (
        SELECT
            cells.block,
            cells.cell,
            children.child,
            children.turn
        FROM cells
        INNER JOIN children
            ON
                cells.block = children.block
                AND (cells.cell & getvariable('field')) = children.code
        WHERE cells.people > 1
    ) AS shared
        ON
            live.block = shared.block
            AND (live.rest & (getvariable('field') | getvariable('secret'))) = shared.cell
    WHERE live.turn = getvariable('this')
    UNION ALL
    SELECT
        block,
        rest,
        word,
        turn(state_of(block)) AS turn
    FROM (
        SELECT
            block,
            rest,
            sum(word)::BIGINT AS word
        FROM (
            SELECT
                children.child AS block,
                (cells.every_bit & getvariable('later')) | getvariable('secret') AS rest,
                1 AS word
            FROM cells
            INNER JOIN children
                ON
                    cells.block = children.block
                    AND (cells.cell & getvariable('field')) = children.code
            WHERE cells.people = 1
            UNION ALL
            SELECT
                block & ~getvariable('bit') AS block,
                rest & getvariable('later') AS rest,
                word
            FROM live
            WHERE turn = getvariable('this') AND may_drop(state_of(block))
        ) AS parts
        GROUP BY ALL
    ) AS merged
    UNION ALL
    SELECT
        block,
        rest,
        word,
        turn
    FROM live
    WHERE turn >= getvariable('two') AND (turn & getvariable('bit')) = 0
) AS people;
