-- One row per cell that is no interval and stands for the missing value besides its items.
CREATE OR REPLACE VIEW absent AS
SELECT
    id,
    0 AS place
FROM parsed
WHERE missing AND NOT ranged AND EXISTS (SELECT 1 FROM places WHERE place = 0);
