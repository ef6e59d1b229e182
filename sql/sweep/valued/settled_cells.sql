-- One row per kind of block that takes all that varies in the block before, which is one attribute
-- or two: the rows of those blocks are such blocks, but for the values of the secret.
CREATE OR REPLACE VIEW settled_cells AS
SELECT
    take(state, -1) AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        state_of(block) AS state,
        sum(word)::BIGINT AS size,
        max(mode_of(rest, word))::BIGINT AS mode,
        sum(values_of(rest, word))::BIGINT AS "values"
    FROM live
    WHERE turn BETWEEN getvariable('first_turn') AND getvariable('last_turn')
    GROUP BY block, rest >> getvariable('secret_bits')
) AS cells
GROUP BY ALL;
