-- One row per block to be shown: how many of its people have each value of the secret,
-- the value of most weight first.
CREATE OR REPLACE VIEW counts AS
SELECT
    chosen.qid,
    list(
        {'value': cells.secret, 'records': cells.people}
        ORDER BY cells.weight DESC, cells.secret ASC NULLS LAST
    ) AS counts
FROM chosen
JOIN cells ON cells.qid IS NOT DISTINCT FROM chosen.qid
GROUP BY chosen.qid;
