-- One row per kind of record that has settled and kind of candidates for it: what one of them offers.
CREATE OR REPLACE VIEW settled_offers AS
SELECT
    kind,
    other,
    message
FROM offers
ANTI JOIN restless ON restless.exact = offers.exact;
