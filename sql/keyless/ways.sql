-- One row per kind of record and what may become of it: candidates alike in the next release, or
-- nobody (missed is 1, and the record stays what was last seen of the person).
CREATE OR REPLACE VIEW ways AS
SELECT
    kind,
    other,
    sight,
    weight,
    missed
FROM (
    SELECT
        kind,
        other,
        sight,
        weight * records AS weight,
        0 AS missed
    FROM weighed
    CROSS JOIN asked
    WHERE asked.presence > 0
    UNION ALL
    SELECT
        states.kind,
        states.kind AS other,
        0 AS sight,
        0::HUGEINT AS weight,
        1 AS missed
    FROM (SELECT DISTINCT kind FROM states) AS states
    LEFT JOIN totals ON totals.kind = states.kind
    WHERE totals.absence > 0 OR totals.kind IS NULL
) AS every;
