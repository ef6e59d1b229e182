-- One row per different person of a chunk: her block by the first attribute, her codes of the
-- attributes that are undecided, packed, and how many are alike.
CREATE OR REPLACE VIEW entered AS
SELECT
    keyed(entry, getvariable('state')) AS block,
    rest,
    word,
    getvariable('this') AS turn
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest');
