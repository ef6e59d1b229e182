-- One row per tuple of exactly matching columns with candidates: how many records have candidates
-- there, whether they are more than the candidates (crowded), whether there are fewer pairs than
-- records of both releases, as where pairs form no cycle (sparse).
CREATE OR REPLACE VIEW rivalry AS
SELECT
    claiming.exact,
    claiming.records,
    claiming.records > claimed.records AS crowded,
    paired.pairs < claiming.records + claimed.records AS sparse
FROM (SELECT exact, sum(records)::BIGINT AS records FROM claimants GROUP BY exact) AS claiming
JOIN (
    SELECT
        odds.exact,
        sum(claimants.records::HUGEINT * candidates.records) AS pairs
    FROM odds
    JOIN claimants ON claimants.kind = odds.kind
    JOIN candidates ON candidates.kind = odds.other
    GROUP BY odds.exact
) AS paired ON paired.exact = claiming.exact
JOIN (
    SELECT
        candidates.exact,
        sum(candidates.records)::BIGINT AS records
    FROM candidates
    SEMI JOIN odds ON odds.other = candidates.kind
    GROUP BY candidates.exact
) AS claimed ON claimed.exact = claiming.exact;
