-- One row per run, distance and point: how many people have a distance of at most that.
CREATE OR REPLACE VIEW shares AS
SELECT
    each_one.run,
    each_one.distance,
    points.point,
    coalesce(sum(each_one.people) FILTER (WHERE each_one.value <= points.point), 0)::BIGINT AS people,
    sum(each_one.people)::BIGINT AS records
FROM each_one CROSS JOIN points
GROUP BY each_one.run, each_one.distance, points.point;
