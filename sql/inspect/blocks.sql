-- Blocks to be shown, with how many of their people have each value.

-- One row per block to be shown: the smallest ones. The command line orders and limits it.
CREATE OR REPLACE VIEW chosen AS
SELECT *
FROM revealed
ORDER BY size
LIMIT 20;

-- One row per block to be shown: how many of its people have each value of the secret,
-- the most frequent first.
CREATE OR REPLACE VIEW counts AS
SELECT
    chosen.qid,
    list(
        {'value': cells.secret, 'records': cells.weight}
        ORDER BY cells.weight DESC, cells.secret ASC NULLS LAST
    ) AS counts
FROM chosen
JOIN cells ON cells.qid IS NOT DISTINCT FROM chosen.qid
GROUP BY chosen.qid;
