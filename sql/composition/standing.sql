-- One row per combination of spots in the releases so far: those before, the spot in the last one,
-- and how many people stand there.
CREATE OR REPLACE VIEW standing AS
SELECT
    row_number() OVER () AS alike,
    earlier,
    spot,
    people
FROM (
    SELECT
        at_before.alike AS earlier,
        whereabouts.spot,
        sum(at_before.people)::BIGINT AS people
    FROM at_before
    INNER JOIN whereabouts ON at_before.point = whereabouts.point
    INNER JOIN spot_sizes ON whereabouts.spot = spot_sizes.spot
    GROUP BY at_before.alike, whereabouts.spot
) AS together;
