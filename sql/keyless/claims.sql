-- One row per kind of record and kind of candidates for it: how strongly one of these records claims
-- one of the candidates, against all else that it may be, and the chance that it is, now and before.
CREATE OR REPLACE VIEW claims AS
SELECT
    offers.exact,
    offers.kind,
    offers.other,
    offers.odds,
    offers.former,
    offers.message AS offer,
    offers.chance AS before,
    offers.message
    / (1 + heard.elsewhere + heard.total::DOUBLE * 2.0::DOUBLE ** (40 * heard.part - 50)) AS chance,
    offers.odds
    / (
        1 + heard.elsewhere
        + (heard.total - offers.whole)::DOUBLE * 2.0::DOUBLE ** (40 * heard.part - 50)
    ) AS message
FROM offers
JOIN heard ON heard.receiver = offers.kind AND heard.part = offers.part;
