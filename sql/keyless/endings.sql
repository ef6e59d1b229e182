-- One row per kind of record of the focal release and all that is seen later: the chance of that.
CREATE OR REPLACE VIEW endings AS
SELECT
    source,
    seen,
    sight,
    sum(mass) AS mass
FROM chances
GROUP BY source, seen, sight;
