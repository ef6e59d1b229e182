-- One row per different person of a sample: whole blocks of the first attribute, drawn at random,
-- and numbered in the order in which they were drawn.
CREATE OR REPLACE VIEW sampled AS
SELECT
    drawn.place::INTEGER AS entry,
    coded.rest,
    coded.word
FROM coded
INNER JOIN (
    SELECT
        entry,
        row_number() OVER (ORDER BY hash(entry, getvariable('seed')), entry) - 1 AS place
    FROM (SELECT DISTINCT entry FROM coded) AS entries
) AS drawn ON coded.entry = drawn.entry
WHERE drawn.place < getvariable('drawn')
ORDER BY drawn.place;
