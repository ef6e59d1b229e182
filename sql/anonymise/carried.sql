-- One row per part in which the next group is made around the opposite of the last one.
CREATE OR REPLACE VIEW carried AS
SELECT
    part,
    remaining AS size,
    opposite AS pole
FROM groups
WHERE fresh AND size >= 3 * wanted_k AND last_of_group IS NOT NULL;
