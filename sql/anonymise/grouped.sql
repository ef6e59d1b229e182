-- One row per different person who is in a group now: the number of the group in place of the part.
CREATE OR REPLACE VIEW grouped AS
SELECT
    (near.part << 20) + getvariable('turn')::BIGINT AS part,
    place,
    people
FROM near JOIN groups ON near.part = groups.part
WHERE
    last_of_group IS NULL
    OR (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17) + id
    <= last_of_group;
