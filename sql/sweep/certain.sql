-- One row per different person of the blocks that are not left to chance: those of strata of which
-- nothing is drawn.
CREATE OR REPLACE VIEW certain AS
SELECT
    coded.entry,
    coded.rest,
    coded.word
FROM coded
INNER JOIN lots ON coded.entry = lots.entry
WHERE getvariable('drawn')[lots.stratum + 1] = 0
ORDER BY coded.entry;
