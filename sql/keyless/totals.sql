-- One row per kind of record that has candidates: their weight together, the largest weight of one,
-- how many kinds of them there are.
CREATE OR REPLACE VIEW totals AS
SELECT
    kind,
    sum(weight * records) AS total,
    max(weight) AS heaviest,
    count(*) AS spots
FROM weighed
GROUP BY kind;
