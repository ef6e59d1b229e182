-- One row per different person of a block that took this attribute and goes on: under its new key,
-- without the attribute's code. People whose value of the secret nobody else in the new block has
-- forget it, and merge.
CREATE OR REPLACE VIEW stripped AS
SELECT
    block,
    rest,
    word,
    turn
FROM (
    SELECT
        shared.child AS block,
        live.rest & getvariable('later') AS rest,
        live.word AS word,
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
        children.child AS block,
        (cells.every_bit & getvariable('later')) | getvariable('secret') AS rest,
        count(*) AS word,
        children.turn
    FROM cells
    INNER JOIN children
        ON cells.block = children.block AND (cells.cell & getvariable('field')) = children.code
    WHERE cells.people = 1
    GROUP BY ALL
) AS people;
