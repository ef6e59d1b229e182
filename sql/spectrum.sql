-- One row per block: the counts of its values of the secret, from the most frequent on.
CREATE OR REPLACE VIEW spectrum AS
SELECT
    qid,
    list(weight ORDER BY weight DESC) AS counts
FROM cells
GROUP BY qid;
