-- One row: the records and how many of them have a hash or a missing value; the different hashes;
-- how many of both were found again, and how many hashes are those of several candidates.
CREATE OR REPLACE VIEW recovered AS
SELECT
    coalesce(sum(digests.records), 0)::BIGINT AS records,
    coalesce(sum(digests.missing), 0)::BIGINT AS missing,
    coalesce(sum(digests.records) FILTER (WHERE digests.digest IS NOT NULL), 0)::BIGINT AS hashed,
    count(digests.digest) AS "values",
    count(preimages.digest) AS recovered_values,
    coalesce(sum(digests.records) FILTER (WHERE preimages.candidates > 0), 0)::BIGINT AS recovered_records,
    count(*) FILTER (WHERE preimages.candidates > 1) AS ambiguous
FROM digests
LEFT JOIN (
    SELECT
        digest,
        count(DISTINCT candidate) AS candidates
    FROM matches
    GROUP BY digest
) AS preimages ON preimages.digest = digests.digest;
