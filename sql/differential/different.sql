-- One row per different person: their places and secret, under a number; how many people.
CREATE OR REPLACE VIEW different AS
SELECT
    row_number() OVER (ORDER BY place, secrets) AS person,
    place,
    secrets,
    count(*) AS people
FROM coded
GROUP BY place, secrets;
