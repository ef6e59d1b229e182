-- The rows of a chunk for the compiled walk.

-- One row per different person of a chunk, in order: her block by the first attribute, and her codes
-- of the attributes that are undecided, packed. The counters of those who are alike are added, two
-- in a number of 64 bits.
CREATE OR REPLACE VIEW chunk_rows AS
SELECT
    entry,
    rest
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
ORDER BY entry, rest;
