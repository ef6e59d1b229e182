-- One row per kind of record: the weight of all of its candidates, and that of nobody.
CREATE OR REPLACE VIEW sought AS
SELECT
    offers.kind,
    any_value(leavers.nobody) AS nobody,
    sum(offers.weight * candidates.records) AS weights
FROM offers
JOIN leavers ON leavers.kind = offers.kind
JOIN candidates ON candidates.kind = offers.other
GROUP BY offers.kind;
