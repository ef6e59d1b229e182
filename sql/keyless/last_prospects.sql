-- One row per kind of record with candidates: the chance that the best link from it is right.
CREATE OR REPLACE VIEW last_prospects AS
SELECT
    kind,
    presence * (heaviest::DOUBLE / total::DOUBLE) AS prospect
FROM totals;
