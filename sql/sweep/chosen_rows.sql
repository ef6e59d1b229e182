-- One row per different person of a chunk, with all codes in one key.
CREATE OR REPLACE VIEW chosen_rows AS
SELECT
    packed(entry, rest) AS packed_key,
    word
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest');
