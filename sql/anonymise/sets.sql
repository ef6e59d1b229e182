-- One row per class: the values of one quasi-identifier in it, in their order, missing last.
CREATE OR REPLACE VIEW sets AS
SELECT
    part,
    count(*) AS "values",
    list(value ORDER BY code) AS cell
FROM (SELECT DISTINCT part, own_place AS place FROM done) AS different
JOIN scale ON different.place = scale.place
GROUP BY part;
