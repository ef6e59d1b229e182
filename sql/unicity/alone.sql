-- One row per number of points: how many people have so many, and how many sets of points, of those
-- that they have, nobody else has all of. `tested` sets are of shared points, of which `lone` ones
-- are one person's; any set with a point of one person alone is hers alone.
CREATE OR REPLACE VIEW alone AS
SELECT
    chances.points,
    count(*) AS people,
    sum(chances.sets - chances.tested + coalesce(lone.sets, 0))::HUGEINT AS alone
FROM chances
LEFT JOIN (
    SELECT
        person,
        count(*) AS sets
    FROM single
    GROUP BY person
) AS lone ON lone.person = chances.person
GROUP BY chances.points;
