-- One row per kind of block that takes one of the two attributes that vary in the block before.
CREATE OR REPLACE VIEW settled_parts AS
SELECT
    take(state, getvariable('chosen')) AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        state_of(block) AS state,
        sum(people)::BIGINT AS size,
        max(mode_of(cell, people)) AS mode,
        sum(values_of(cell, people))::BIGINT AS "values"
    FROM (
        SELECT
            block,
            rest & (getvariable('seen') | getvariable('secret')) AS cell,
            sum(word)::BIGINT AS people
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, cell
    ) AS cells
    GROUP BY block, cell >> getvariable('secret_bits')
) AS parts
GROUP BY ALL;
