-- One row per tuple of exactly matching columns whose records have not settled: in a round their
-- chances moved by more than a ten-thousandth per record or, where pairs may form no cycle and
-- messages come to an end, an offer moved by more than a trillionth of itself.
CREATE OR REPLACE VIEW restless AS
SELECT moving.exact
FROM (
    SELECT
        claims.exact,
        max(abs(claims.offer - claims.former) / claims.offer) AS stirred,
        sum(
            (abs(claims.chance - claims.before) * 1152921504606846976::DOUBLE)::HUGEINT
            * mine.records * candidates.records
        ) AS moved
    FROM claims
    JOIN mine ON mine.kind = claims.kind
    JOIN candidates ON candidates.kind = claims.other
    GROUP BY claims.exact
) AS moving
JOIN rivalry ON rivalry.exact = moving.exact
WHERE CASE
    WHEN rivalry.sparse THEN moving.stirred > 1e-12
    ELSE moving.moved * 10000 > rivalry.records * 1152921504606846976::HUGEINT
END;
