-- One row per different person of a chunk.
CREATE OR REPLACE VIEW chosen_rows AS
SELECT
    entry,
    rest,
    word
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest');
