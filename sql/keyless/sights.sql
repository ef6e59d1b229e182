-- One row per observation that a release allows of a person who is in it, with its number, from 1;
-- what cannot be told from not being in the release is not here.
CREATE OR REPLACE VIEW sights AS
SELECT
    row_number() OVER () AS number,
    observed
FROM (SELECT DISTINCT observed FROM given WHERE NOT unseen) AS different;
