-- One row per value of this attribute and of the secret in a block: its people, and the bits that some
-- or all of them have. Of a person alone they are all her own.
CREATE OR REPLACE VIEW cells AS
SELECT
    block,
    rest & (getvariable('field') | getvariable('secret')) AS cell,
    sum(word)::BIGINT AS people,
    bit_or(rest) AS every_bit,
    bit_and(rest) AS common_bits
FROM live
WHERE turn = getvariable('this')
GROUP BY block, cell;
