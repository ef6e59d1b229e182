-- One row per kind of record of the focal release, what was seen since, and the kind of the record
-- that was last seen: the chance of that.
CREATE OR REPLACE VIEW stages AS
SELECT
    source,
    min(numbered) OVER (PARTITION BY seen, sight) AS seen,
    kind,
    mass
FROM (
    SELECT
        source,
        seen,
        sight,
        kind,
        sum(mass) AS mass,
        row_number() OVER () AS numbered
    FROM chances
    GROUP BY source, seen, sight, kind
) AS reached;
