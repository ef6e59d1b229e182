-- One row per person with enough points: her place among them, from 0.
CREATE OR REPLACE VIEW eligible AS
SELECT
    people.person,
    row_number() OVER (ORDER BY people.person) - 1 AS place
FROM people, asked
WHERE people.points >= asked.points;
