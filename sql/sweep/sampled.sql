-- One row per different person of a sample: whole blocks of the first attribute, drawn at random and
-- numbered stratum by stratum, in the order in which they were drawn.
CREATE OR REPLACE VIEW sampled AS
SELECT
    (getvariable('starts')[lots.stratum + 1] + lots.place)::INTEGER AS entry,
    coded.rest,
    coded.word
FROM coded
INNER JOIN lots ON coded.entry = lots.entry
WHERE lots.place < getvariable('drawn')[lots.stratum + 1]
ORDER BY 1;
