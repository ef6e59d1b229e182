-- One row per record of the focal release: its kind, its observation, its secrets, its key.
CREATE OR REPLACE VIEW placed AS
SELECT
    people.*,
    kinds.kind
FROM people
JOIN kinds ON kinds.exact = people.exact AND kinds.qid IS NOT DISTINCT FROM people.qid;
