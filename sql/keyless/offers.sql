-- One row per kind of record and kind of candidates for it: the weight of one pair of them where the
-- best candidate weighs 1, and what is left of it, as a whole number, once all that claim the
-- candidate are heard: at first nobody is.
CREATE OR REPLACE VIEW offers AS
SELECT
    odds.exact,
    odds.kind,
    odds.other,
    odds.odds / leavers.best AS share,
    (odds.odds / leavers.best * 2.0::DOUBLE ** 80)::HUGEINT AS weight,
    0.0::DOUBLE AS chance
FROM odds
JOIN leavers ON leavers.kind = odds.kind;
