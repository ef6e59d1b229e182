-- One row per kind of record with candidates: what must match exactly, how many records are of the
-- kind.
CREATE OR REPLACE VIEW claimants AS
SELECT
    mine.kind,
    mine.exact,
    mine.records
FROM mine
SEMI JOIN odds ON odds.kind = mine.kind;
