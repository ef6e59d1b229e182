-- One row per person: her number in the order of the keys, her points, and those of them that
-- somebody else has, too.
CREATE OR REPLACE VIEW people AS
SELECT
    traces.key,
    row_number() OVER (ORDER BY traces.key) AS person,
    count(*) AS points,
    count(*) FILTER (WHERE places.owners > 1) AS shared
FROM traces
JOIN places ON places.qid IS NOT DISTINCT FROM traces.qid
GROUP BY traces.key;
