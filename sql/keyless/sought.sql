-- One row per kind of record and part: all that its candidates offer it, as a whole number.
CREATE OR REPLACE VIEW sought AS
SELECT
    offers.kind AS receiver,
    offers.part,
    sum(offers.whole * candidates.records) AS total
FROM offers
JOIN candidates ON candidates.kind = offers.other
GROUP BY offers.kind, offers.part;
