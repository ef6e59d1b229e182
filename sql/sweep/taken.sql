-- One row per block that takes this attribute: its people, and its state, in which what does not
-- vary is free.
CREATE OR REPLACE VIEW taken AS
SELECT
    block,
    code,
    word,
    people(word) AS size,
    within_sizes(took(state_of(block), varying)) AS state
FROM (
    SELECT
        block,
        rest & getvariable('field') AS code,
        sum(word)::HUGEINT AS word,
        varying(xor(bit_or(rest), bit_and(rest))) AS varying
    FROM live
    WHERE turn = getvariable('this')
    GROUP BY block, code
) AS blocks;
