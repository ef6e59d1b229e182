-- One row per kind of record and candidates alike in the next release: the weight that is left to
-- each of them by all others who claim it, at least 1.
CREATE OR REPLACE VIEW matched AS
SELECT
    offers.kind,
    offers.other,
    spots.sight,
    spots.records,
    offers.weight
FROM offers
JOIN spots ON spots.kind = offers.other;
