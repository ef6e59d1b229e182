-- One row per draw: the known point that the fewest people have, if somebody else has it.
CREATE OR REPLACE VIEW rarest AS
SELECT
    draw,
    person,
    arg_min(point, owners) AS point,
    min(owners) AS owners
FROM picked
GROUP BY draw, person
HAVING min(owners) > 1;
