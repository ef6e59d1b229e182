-- One row per kind of record and kind of candidates for it: the weight that is left to a pair by all
-- others who claim the candidate, with the chance of the round before.
CREATE OR REPLACE VIEW answers AS
SELECT
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
JOIN claimed ON claimed.other = claims.other;
