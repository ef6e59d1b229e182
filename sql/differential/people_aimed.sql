-- One row per different person who is a target, with the first record that is theirs, in the batch
-- in which they are worked.
CREATE OR REPLACE VIEW people_aimed AS
SELECT
    targets.target,
    whose.record,
    targets.spots,
    targets.secret,
    targets.people,
    (row_number() OVER (ORDER BY targets.target) - 1) // wanted_many AS batch
FROM targets JOIN (
    SELECT
        target,
        min(record) AS record
    FROM whose
    GROUP BY target
) AS whose ON targets.target = whose.target;
