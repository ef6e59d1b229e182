-- One row per kind of candidates and part: all that is claimed of one of them, as a whole number.
CREATE OR REPLACE VIEW claimed AS
SELECT
    claims.other AS receiver,
    claims.part,
    sum(claims.whole * mine.records) AS total
FROM claims
JOIN mine ON mine.kind = claims.kind
GROUP BY claims.other, claims.part;
