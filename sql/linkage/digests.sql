-- One row per different hash of the column: how many records have it. NULL: no hash of that kind.
CREATE OR REPLACE VIEW digests AS
SELECT
    digest,
    count(*) AS records,
    count(*) FILTER (WHERE missing) AS missing
FROM hashed
GROUP BY digest;
