-- One row per block, possible value of the secret and group of people, weighed by what the adversary
-- believed before (see believed).
CREATE OR REPLACE VIEW believed_members AS
SELECT
    members.qid,
    members.secret,
    members.member_of,
    members.people,
    (members.weight::DOUBLE / prior_cells.weight::DOUBLE * beliefs.belief * pow(2, 80))::HUGEINT
        AS weight
FROM members
JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM members.secret
JOIN beliefs ON beliefs.value IS NOT DISTINCT FROM members.secret
WHERE beliefs.belief > 0;
