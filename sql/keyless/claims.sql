-- One row per kind of record and kind of candidates for it: how strongly one of these records claims
-- one of the candidates, as a whole number, against all else that it may be, and the chance that
-- it is, now and before.
CREATE OR REPLACE VIEW claims AS
SELECT
    offers.exact,
    offers.kind,
    offers.other,
    offers.share,
    offers.weight::DOUBLE
    / (sought.nobody * 2.0::DOUBLE ** 80 + sought.weights::DOUBLE) AS chance,
    offers.chance AS before,
    (
        offers.share
        / (sought.nobody + (sought.weights - offers.weight)::DOUBLE / 2.0::DOUBLE ** 80)
        * 2.0::DOUBLE ** 50
    )::HUGEINT AS claim
FROM offers
JOIN sought ON sought.kind = offers.kind;
