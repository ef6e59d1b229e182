-- One row per kind of record and observation: how many records of the kind are observed so.
CREATE OR REPLACE VIEW spots AS
SELECT
    kinds.* EXCLUDE (records),
    sighted.sight,
    sighted.records
FROM (
    SELECT
        exact,
        qid,
        sight,
        count(*) AS records
    FROM people
    GROUP BY exact, qid, sight
) AS sighted
JOIN kinds ON kinds.exact = sighted.exact AND kinds.qid IS NOT DISTINCT FROM sighted.qid;
