-- One row per kind of block that comes of blocks in which one attribute varies: it takes that.
CREATE OR REPLACE VIEW one_left AS
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
    WHERE turn < getvariable('two')
    GROUP BY block, rest >> getvariable('secret_bits')
) AS blocks
GROUP BY ALL;
