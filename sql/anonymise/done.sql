-- One row per different quasi-identifier tuple of the parts that are finished: how many have it.
CREATE OR REPLACE VIEW done AS
SELECT
    people.part,
    place,
    sum(people.people)::BIGINT AS people
FROM people JOIN chosen ON people.part = chosen.part
WHERE attribute = 0
GROUP BY people.part, place;
