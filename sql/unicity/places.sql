-- One row per different point: its number, and how many people have it.
CREATE OR REPLACE VIEW places AS
SELECT
    qid,
    count(*) AS owners,
    row_number() OVER () AS point
FROM traces
GROUP BY qid;
