-- One row per kind of record that is restless and kind of candidates for it: what the candidate
-- offers the record when all others who claim it are heard, and what it offered before.
CREATE OR REPLACE VIEW answers AS
SELECT
    claims.exact,
    claims.kind,
    claims.other,
    claims.odds,
    claims.offer AS former,
    claims.chance,
    claims.odds
    / (
        1 + heard.elsewhere
        + (heard.total - claims.whole)::DOUBLE * 2.0::DOUBLE ** (40 * heard.part - 50)
    ) AS message
FROM claims
JOIN restless ON restless.exact = claims.exact
JOIN heard ON heard.receiver = claims.other AND heard.part = claims.part;
