-- One row per record of a release: the number of what must match exactly, what may drift (qid), and
-- the number of what is observed, 0 where that cannot be told from not being in the release.
CREATE OR REPLACE VIEW people AS
SELECT
    given.* EXCLUDE (exact, observed, unseen),
    exacts.number AS exact,
    coalesce(sights.number, 0) AS sight
FROM given
JOIN exacts ON exacts.exact IS NOT DISTINCT FROM given.exact
LEFT JOIN sights ON sights.observed IS NOT DISTINCT FROM given.observed;
