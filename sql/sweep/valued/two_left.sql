-- One row per kind of block that comes of blocks in which this attribute and one other vary: it
-- takes this one, or the other, or both.
CREATE OR REPLACE VIEW two_left AS
SELECT
    state,
    size,
    mode,
    "values",
    blocks
FROM (
    SELECT
        take_this(state) AS state,
        size,
        mode,
        "values",
        count(*) AS blocks
    FROM (
        SELECT
            state_of(block) AS state,
            sum(people)::BIGINT AS size,
            max(people) AS mode,
            count(*) AS "values"
        FROM (
            SELECT
                block,
                with_secret(rest >> getvariable('shift'), rest) AS cell,
                sum(word)::BIGINT AS people
            FROM live
            WHERE turn = getvariable('this_and_another')
            GROUP BY block, cell
        ) AS cells
        GROUP BY block, cell >> getvariable('secret_bits')
    ) AS by_this
    GROUP BY ALL
    UNION ALL
    SELECT
        drop_this(state) AS state,
        size,
        mode,
        "values",
        count(*) AS blocks
    FROM (
        SELECT
            state_of(block) AS state,
            sum(people)::BIGINT AS size,
            max(people) AS mode,
            count(*) AS "values"
        FROM (
            SELECT
                block,
                rest & getvariable('later') AS cell,
                sum(word)::BIGINT AS people
            FROM live
            WHERE turn = getvariable('this_and_another')
            GROUP BY block, cell
        ) AS cells
        GROUP BY block, cell >> getvariable('secret_bits')
    ) AS by_the_other
    GROUP BY ALL
    UNION ALL
    SELECT
        take_open(state) AS state,
        size,
        mode,
        "values",
        count(*) AS blocks
    FROM (
        SELECT
            state_of(block) AS state,
            sum(word)::BIGINT AS size,
            max(word)::BIGINT AS mode,
            count(*) AS "values"
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, rest >> getvariable('secret_bits')
    ) AS by_both
    GROUP BY ALL
) AS kinds;
