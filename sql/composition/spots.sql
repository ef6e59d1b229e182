-- One row per combination of classes in which somebody lies, a spot.
CREATE OR REPLACE VIEW spots AS
SELECT
    row_number() OVER () AS spot,
    classes
FROM (SELECT DISTINCT classes FROM reached) AS different;
