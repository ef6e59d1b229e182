-- One row: the fewest values in a block, and the highest score of entropy: that of the block whose
-- secret is least uncertain, in bits, with its sign changed.
CREATE OR REPLACE VIEW extremes AS
SELECT
    min("values") AS fewest,
    max(logs / size - log2(size)) AS certainty
FROM grades;
