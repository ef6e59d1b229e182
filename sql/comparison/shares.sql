-- One row per different cell that contains values of the original: the mass that each of them gets,
-- in parts of a record.
CREATE OR REPLACE VIEW shares AS
SELECT
    contained.id,
    contained.enumerated,
    contained.first,
    contained.last,
    contained.missing,
    (contained.records::HUGEINT * units.parts) // contained.width AS share
FROM contained
CROSS JOIN units
WHERE contained.width > 0;
