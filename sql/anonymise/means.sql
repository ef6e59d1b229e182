-- One row per class: the mean of the values of one quasi-identifier over its records, without those
-- that are missing. Values are added in their order, so that the sum is the same each time.
CREATE OR REPLACE VIEW means AS
SELECT
    part,
    count(DISTINCT different.place) AS "values",
    list_sum(list(value::DOUBLE * different.people ORDER BY code) FILTER (WHERE value IS NOT NULL))
    / nullif(sum(different.people) FILTER (WHERE value IS NOT NULL), 0)::DOUBLE AS cell
FROM (SELECT part, own_place AS place, sum(people)::BIGINT AS people FROM done GROUP BY part, place)
    AS different
JOIN scale ON different.place = scale.place
GROUP BY part;
