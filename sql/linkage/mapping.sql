-- One row per hash and candidate that gives it: the mapping back, with the records of the hash.
CREATE OR REPLACE VIEW mapping AS
SELECT DISTINCT
    matches.digest,
    matches.candidate,
    digests.records
FROM matches
JOIN digests ON digests.digest = matches.digest
ORDER BY matches.digest, matches.candidate;
