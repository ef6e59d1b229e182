-- One row per kind of block that comes of blocks in which one attribute varies: it takes that.
CREATE OR REPLACE VIEW one_left AS
SELECT
    take_open(state) AS state,
    word,
    blocks
FROM (
    SELECT
        state_of(block) AS state,
        word,
        count(*) AS blocks
    FROM live
    WHERE turn < getvariable('two')
    GROUP BY ALL
) AS taking;
