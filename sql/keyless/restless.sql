-- One row per tuple of exactly matching columns whose records have not settled: in a round their
-- chances moved by more than a ten-thousandth per record.
CREATE OR REPLACE VIEW restless AS
SELECT moving.exact
FROM (
    SELECT
        claims.exact,
        sum(
            (abs(claims.chance - claims.before) * 1152921504606846976::DOUBLE)::HUGEINT
            * mine.records * candidates.records
        ) AS moved
    FROM claims
    JOIN mine ON mine.kind = claims.kind
    JOIN candidates ON candidates.kind = claims.other
    GROUP BY claims.exact
) AS moving
JOIN (SELECT exact, sum(records) AS records FROM leavers GROUP BY exact) AS people
    ON people.exact = moving.exact
WHERE moving.moved * 10000 > people.records * 1152921504606846976::HUGEINT;
