-- One row per kind of record that has candidates: their weight together, the largest weight of one,
-- how many kinds of them there are, the chance that the person is in the next release.
CREATE OR REPLACE VIEW totals AS
SELECT
    kind,
    sum(weight * records) AS total,
    max(weight) AS heaviest,
    count(*) AS spots,
    any_value(presence) AS presence,
    any_value(absence) AS absence
FROM weighed
CROSS JOIN asked
GROUP BY kind;
