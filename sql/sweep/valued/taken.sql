-- One row per block that takes this attribute: its people, how many share the most frequent value
-- of the secret, how many values occur; and its state, in which what does not vary is free.
CREATE OR REPLACE VIEW taken AS
SELECT
    block,
    code,
    size,
    mode,
    "values",
    within_sizes(took(state_of(block), varying)) AS state
FROM (
    SELECT
        block,
        cell & getvariable('field') AS code,
        sum(people)::BIGINT AS size,
        max(people) AS mode,
        count(*) AS "values",
        varying(xor(bit_or(every_bit), bit_and(common_bits))) AS varying
    FROM (
        SELECT
            block,
            rest & (getvariable('field') | getvariable('secret')) AS cell,
            sum(word)::BIGINT AS people,
            bit_or(rest) AS every_bit,
            bit_and(rest) AS common_bits
        FROM live
        WHERE turn = getvariable('this')
        GROUP BY block, cell
    ) AS cells
    GROUP BY block, code
) AS blocks;
