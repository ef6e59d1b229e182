-- One row per kind of record that has candidates: their weight together, the largest weight of one,
-- how many there are.
CREATE OR REPLACE VIEW totals AS
SELECT
    kind,
    sum(weight * records) AS total,
    max(weight) AS heaviest,
    sum(records)::BIGINT AS candidates
FROM weighed
GROUP BY kind;
