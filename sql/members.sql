-- One row per block, value of the secret and group of people: how many they are.
CREATE OR REPLACE VIEW members AS
SELECT
    qid,
    secret,
    member_of,
    count(*) AS people,
    count(*) AS weight
FROM microdata
GROUP BY qid, secret, member_of;
