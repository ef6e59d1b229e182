-- One row per value of a quasi-identifier that one person alone has and without which the scale may
-- be another one: its place and code.
CREATE OR REPLACE VIEW lonely AS
SELECT
    place AS spot,
    code
FROM scale
WHERE
    people = 1
    AND (NOT wanted_ends OR place IN ((SELECT min(place) FROM scale), (SELECT max(place) FROM scale)));
