-- One row per combination of places that people have: a point.
CREATE OR REPLACE VIEW points AS
SELECT
    row_number() OVER () AS point,
    place
FROM (SELECT DISTINCT place FROM coded) AS different;
