-- One row per kind of block that comes of blocks in which this attribute and one other vary: it
-- takes this one, or the other, or both.
CREATE OR REPLACE VIEW two_left AS
SELECT
    CASE
        WHEN way = 'this' THEN take_this(state)
        WHEN way = 'the other' THEN drop_this(state)
        ELSE take_open(state)
    END AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        state_of(block) AS state,
        way,
        sum(people)::BIGINT AS size,
        max(people) AS mode,
        count(*) AS "values"
    FROM (
        SELECT
            'this' AS way,
            block,
            rest >> getvariable('shift') AS code,
            sum(word)::BIGINT AS people
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, code, rest & getvariable('secret')
        UNION ALL
        SELECT
            'the other' AS way,
            block,
            (rest & getvariable('later')) >> getvariable('secret_bits') AS code,
            sum(word)::BIGINT AS people
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, code, rest & getvariable('secret')
        UNION ALL
        SELECT
            'both' AS way,
            block,
            rest >> getvariable('secret_bits') AS code,
            word::BIGINT AS people
        FROM live
        WHERE turn = getvariable('this_and_another')
    ) AS cells
    GROUP BY way, block, code
) AS blocks
GROUP BY ALL;
