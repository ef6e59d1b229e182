-- One row per kind of record with candidates: the odds of the best of them, and the weight of being
-- in no later release where the best candidate weighs 1, never less than a trillionth. What must
-- match exactly, and how many records are of the kind.
CREATE OR REPLACE VIEW leavers AS
SELECT
    odds.kind,
    any_value(mine.exact) AS exact,
    any_value(mine.records) AS records,
    max(odds.odds) AS best,
    greatest(1 / max(odds.odds), 2.0::DOUBLE ** -40) AS nobody
FROM odds
JOIN mine ON mine.kind = odds.kind
GROUP BY odds.kind;
