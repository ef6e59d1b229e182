-- One row per person's values that lie somewhere in every release so far: where.
CREATE OR REPLACE VIEW at_now AS
SELECT
    at_before.point,
    at_before.people,
    standing.alike
FROM at_before
INNER JOIN whereabouts ON at_before.point = whereabouts.point
INNER JOIN standing ON at_before.alike = standing.earlier AND whereabouts.spot = standing.spot;
