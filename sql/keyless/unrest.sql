-- One row: how far the chances of links have moved in a round, summed over all pairs of records, in
-- parts of 2^60.
CREATE OR REPLACE VIEW unrest AS
SELECT
    coalesce(
        sum(
            (abs(claims.chance - claims.before) * 2.0::DOUBLE ** 60)::HUGEINT
            * mine.records * candidates.records
        ),
        0
    ) AS moved
FROM claims
JOIN mine ON mine.kind = claims.kind
JOIN candidates ON candidates.kind = claims.other;
