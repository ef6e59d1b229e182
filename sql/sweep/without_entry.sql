-- One row per different person when the first attribute is left out: the next one takes its place.
CREATE OR REPLACE VIEW without_entry AS
SELECT
    (rest >> getvariable('shift'))::INTEGER AS entry,
    rest & getvariable('later') AS rest,
    sum(word)::HUGEINT AS word
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
GROUP BY ALL
ORDER BY entry;
