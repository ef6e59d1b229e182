-- One row per block when the secret is whose record it is (re-identification):
-- the best guess is the heaviest person.
CREATE OR REPLACE VIEW owners AS
SELECT
    qid,
    count(*) AS size,
    sum(weight) AS weight,
    max(weight) AS mode,
    max(weight) AS heaviest,
    count(*) AS "values"
FROM microdata
GROUP BY qid;
