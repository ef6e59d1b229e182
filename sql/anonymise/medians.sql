-- One row per class: the median of the values of one quasi-identifier over its records, the lower
-- one of two; missing comes last.
CREATE OR REPLACE VIEW medians AS
SELECT
    part,
    count(*) AS "values",
    arg_min_null(value, code) FILTER (WHERE 2 * upto >= size) AS cell
FROM (
    SELECT
        part,
        code,
        value,
        sum(different.people) OVER (PARTITION BY part ORDER BY code) AS upto,
        sum(different.people) OVER (PARTITION BY part) AS size
    FROM (
        SELECT
            part,
            own_place AS place,
            sum(people)::BIGINT AS people
        FROM done
        GROUP BY part, place
    ) AS different
    JOIN scale ON different.place = scale.place
) AS added
GROUP BY part;
