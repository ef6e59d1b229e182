-- One row per kind of record and kind of candidates for it: the odds of one pair of them, and what a
-- candidate offers the record before anybody is heard: the odds, or next to nothing where more
-- records claim candidates than there are.
CREATE OR REPLACE VIEW offers AS
SELECT
    odds.exact,
    odds.kind,
    odds.other,
    odds.odds,
    0.0::DOUBLE AS former,
    0.0::DOUBLE AS chance,
    CASE WHEN rivalry.crowded THEN least(1.0::DOUBLE, odds.odds) ELSE odds.odds END AS message
FROM odds
JOIN rivalry ON rivalry.exact = odds.exact;
