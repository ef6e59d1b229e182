-- One row per kind of record with candidates: the odds of the best of them, and the weight of being
-- in no later release where the best candidate weighs 1, never less than a trillionth.
CREATE OR REPLACE VIEW leavers AS
SELECT
    kind,
    max(odds) AS best,
    greatest(1 / max(odds), 2.0::DOUBLE ** -40) AS nobody
FROM odds
GROUP BY kind;
