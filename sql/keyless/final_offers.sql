-- One row per kind of record and kind of candidates for it that is possible: the weight of one pair
-- of them, as a whole number of 2^-80 where the best candidate weighs 1.
CREATE OR REPLACE VIEW final_offers AS
SELECT
    gathered.kind,
    gathered.other,
    greatest(
        1::HUGEINT, (gathered.message / leavers.best * 2.0::DOUBLE ** 80)::HUGEINT
    ) AS weight
FROM gathered
JOIN leavers ON leavers.kind = gathered.kind
CROSS JOIN flows
WHERE gathered.message / leavers.best >= flows.impossible;
