-- One row per kind of record that has candidates, as in totals, with the chance that one of them is
-- the same person, once all that claim them are heard.
CREATE OR REPLACE VIEW found AS
SELECT
    totals.kind,
    totals.total,
    totals.heaviest,
    totals.spots,
    totals.total::DOUBLE
    / (totals.total::DOUBLE + leavers.nobody * 2.0::DOUBLE ** 80) AS presence,
    leavers.nobody * 2.0::DOUBLE ** 80
    / (totals.total::DOUBLE + leavers.nobody * 2.0::DOUBLE ** 80) AS absence
FROM totals
JOIN leavers ON leavers.kind = totals.kind;
