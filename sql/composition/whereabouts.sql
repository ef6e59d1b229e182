-- One row per person's values: the spot where they lie, and in how many classes that is.
CREATE OR REPLACE VIEW whereabouts AS
SELECT
    reached.point,
    spots.spot,
    len(spots.classes) AS classes
FROM reached INNER JOIN spots ON reached.classes = spots.classes;
