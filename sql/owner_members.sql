-- One row per block and group of people: how many they are.
CREATE OR REPLACE VIEW owner_members AS
SELECT
    qid,
    member_of,
    count(*) AS people,
    count(*) AS weight
FROM microdata
GROUP BY qid, member_of;
