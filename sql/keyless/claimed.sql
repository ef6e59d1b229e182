-- One row per kind of candidates: how strongly all others claim one of them together.
CREATE OR REPLACE VIEW claimed AS
SELECT
    claims.other,
    sum(claims.claim * mine.records) AS claims
FROM claims
JOIN mine ON mine.kind = claims.kind
GROUP BY claims.other;
