-- One row per kind of block by the counts of its values, whichever these are: how many there are.
CREATE OR REPLACE VIEW spectra AS
SELECT
    counts,
    count(*) AS blocks
FROM spectrum
GROUP BY counts;
