-- One row per kind of block that comes of blocks in which this attribute and one other vary: it
-- takes this one, or the other, or both.
CREATE OR REPLACE VIEW two_left AS
SELECT
    state,
    word,
    blocks
FROM (
    SELECT
        take_this(state) AS state,
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
            GROUP BY block, rest >> getvariable('shift')
        ) AS by_this
        GROUP BY ALL
    ) AS this_taken
    UNION ALL
    SELECT
        drop_this(state) AS state,
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
            GROUP BY block, rest & getvariable('later')
        ) AS by_the_other
        GROUP BY ALL
    ) AS other_taken
    UNION ALL
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
        WHERE turn = getvariable('this_and_another')
        GROUP BY ALL
    ) AS both_taken
) AS kinds;
