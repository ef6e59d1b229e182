-- One row per kind of record that has settled and kind of candidates for it: the weight of a pair.
CREATE OR REPLACE VIEW settled_offers AS
SELECT
    kind,
    other,
    weight
FROM offers
ANTI JOIN restless ON restless.exact = offers.exact;
