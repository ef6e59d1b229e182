-- One row per kind of record that is restless and kind of candidates for it: the weight that is left
-- to a pair by all others who claim the candidate, with the chance of the round before.
CREATE OR REPLACE VIEW answers AS
SELECT
    claims.exact,
    claims.kind,
    claims.other,
    claims.share,
    greatest(
        1::HUGEINT,
        (
            claims.share
            / (1 + (claimed.claims - claims.claim)::DOUBLE / 2.0::DOUBLE ** 50)
            * 2.0::DOUBLE ** 80
        )::HUGEINT
    ) AS weight,
    claims.chance
FROM claims
JOIN restless ON restless.exact = claims.exact
JOIN claimed ON claimed.other = claims.other;
