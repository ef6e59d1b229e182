-- One row per block when the secret is whose record it is (re-identification):
-- every person of the block is a value of its own, so the best guess is right for one.
CREATE OR REPLACE VIEW owners AS
SELECT
    qid,
    count(*) AS size,
    count(*) AS weight,
    1::BIGINT AS mode,
    1::BIGINT AS heaviest,
    count(*) AS "values"
FROM microdata
GROUP BY qid;
