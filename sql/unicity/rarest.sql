-- One row per draw whose known points others have, too: these points, the rarest first, and how many
-- people have that one.
CREATE OR REPLACE VIEW rarest AS
SELECT
    draw,
    person,
    list(point ORDER BY owners, point) AS known,
    min(owners) AS owners
FROM picked
GROUP BY draw, person
HAVING min(owners) > 1;
