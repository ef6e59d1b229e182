-- One row per target without whom a scale is another one.
CREATE OR REPLACE VIEW rescaled AS
SELECT DISTINCT targets.target
FROM targets
JOIN different ON targets.target = different.person AND different.people = 1
JOIN (
    SELECT
        attribute,
        lonely_spot
    FROM moved
    UNION
    SELECT
        attribute,
        spot AS lonely_spot
    FROM alone
) AS gone ON list_extract(targets.spots, gone.attribute) = gone.lonely_spot;
