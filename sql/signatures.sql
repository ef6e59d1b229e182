-- One row per kind of block with the same size and the same tallies.
CREATE OR REPLACE VIEW signatures AS
SELECT
    size,
    tally,
    count(*) AS blocks
FROM tallies
GROUP BY size, tally;
