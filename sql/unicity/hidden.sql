-- One row: in how many draws somebody else has all that is known, too.
CREATE OR REPLACE VIEW hidden AS
SELECT count(DISTINCT twins.draw) AS hidden
FROM (
    SELECT
        picked.draw,
        others.person
    FROM rarest
    JOIN paths AS others ON others.point = rarest.point AND others.person <> rarest.person
    JOIN picked ON picked.draw = rarest.draw
    JOIN paths ON paths.person = others.person AND paths.point = picked.point
    GROUP BY picked.draw, others.person
    HAVING count(*) = (SELECT points FROM asked)
) AS twins;
