-- One row per different person: all are in part 1, nothing was tried yet.
CREATE OR REPLACE VIEW people AS
SELECT
    1::BIGINT AS part,
    0::BIGINT AS tried,
    place,
    secrets,
    count(*) AS people
FROM coded
GROUP BY place, secrets;
