-- One row per person of whom the truth says that she is in both, and whose quasi-identifiers agree.
CREATE OR REPLACE VIEW pairs AS
SELECT release.qid
FROM release
JOIN register ON register.key = release.key AND register.qid IS NOT DISTINCT FROM release.qid;
