-- One row: how many pairs of kinds must be compared, those that match exactly.
CREATE OR REPLACE VIEW explosion AS
SELECT coalesce(sum(mine.kinds * theirs.spots), 0)::BIGINT AS pairs
FROM (SELECT exact, count(*) AS kinds FROM kinds GROUP BY exact) AS mine
JOIN (SELECT exact, count(*) AS spots FROM spots GROUP BY exact) AS theirs
    ON theirs.exact = mine.exact;
