-- One row per different person: her codes, and how many are alike. Those who are close by the first
-- attribute stand close in the table.
CREATE OR REPLACE VIEW merged AS
SELECT
    entry,
    rest,
    sum(word)::HUGEINT AS word
FROM coded
GROUP BY ALL
ORDER BY entry;
