-- One row per kind of record of a release, alike in all that links tell apart: its number, and how
-- many records it has.
CREATE OR REPLACE VIEW kinds AS
SELECT
    row_number() OVER () + beginning AS kind,
    exact,
    qid,
    records
FROM (SELECT exact, qid, count(*) AS records FROM people GROUP BY exact, qid) AS alike
CROSS JOIN numbering;
