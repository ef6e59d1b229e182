-- One row per block and group of people: how many they are, and their weight.
CREATE OR REPLACE VIEW owner_members AS
SELECT
    qid,
    member_of,
    count(*) AS people,
    sum(weight) AS weight
FROM microdata
GROUP BY qid, member_of;
