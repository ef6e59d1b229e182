-- One row: how many values of a finer column fall into several of a coarser one.
CREATE OR REPLACE VIEW splits AS
SELECT count(*)::BIGINT AS "values"
FROM (
    SELECT finer
    FROM steps
    GROUP BY finer
    HAVING count(DISTINCT coarser) > 1
) AS split;
