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
        max(mode_of(cell, people)) AS mode,
        sum(values_of(cell, people))::BIGINT AS "values",
        varying(xor(bit_or(every_bit), bit_and(common_bits))) AS varying
    FROM cells
    GROUP BY block, code
) AS blocks;
