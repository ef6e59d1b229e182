-- One row per kind of block that takes all that varies in the block before, which is one attribute
-- or two: each row of those blocks is such a block by itself.
CREATE OR REPLACE VIEW settled_cells AS
SELECT
    take(state, -1) AS state,
    word,
    blocks
FROM (
    SELECT
        state_of(block) AS state,
        word,
        count(*) AS blocks
    FROM live
    WHERE turn BETWEEN getvariable('first_turn') AND getvariable('last_turn')
    GROUP BY ALL
) AS cells;
