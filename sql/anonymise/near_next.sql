-- One row per different person who is in no group yet.
CREATE OR REPLACE VIEW near_next AS
SELECT
    near.part,
    id,
    place,
    people
FROM near JOIN groups ON near.part = groups.part
WHERE
    last_of_group IS NOT NULL
    AND (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17) + id
    > last_of_group;
