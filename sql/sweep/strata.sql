-- One row per stratum of blocks of about the same size: how many there are, their people, and those
-- of the largest.
CREATE OR REPLACE VIEW strata AS
SELECT
    stratum,
    count(*) AS blocks,
    sum(people)::BIGINT AS people,
    max(people) AS largest
FROM lots
GROUP BY stratum
ORDER BY stratum;
