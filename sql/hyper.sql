-- One row per different inner: the weight of the blocks that have it (the outer, times everybody),
-- how many they are, and the first of them.
CREATE OR REPLACE VIEW hyper AS
SELECT
    row_number() OVER (ORDER BY min(block) ASC) AS inner_number,
    parts,
    sum(weight) AS weight,
    count(*) AS blocks,
    min(block) AS block
FROM inners
GROUP BY parts;
