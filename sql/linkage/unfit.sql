-- One row per number of hexadecimal digits that cells have that are no hash of the kind asked for:
-- how many cells. NULL: something else than hexadecimal digits.
CREATE OR REPLACE VIEW unfit AS
SELECT
    digits,
    count(*) AS cells
FROM hashed
WHERE digest IS NULL AND NOT missing
GROUP BY digits;
