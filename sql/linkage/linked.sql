-- One row per kind of block: how many blocks have so many records of the release and so many of the
-- register, and how many people of these the truth finds in both.
CREATE OR REPLACE VIEW linked AS
SELECT
    released,
    registered,
    count(*) AS blocks,
    sum(same)::BIGINT AS same
FROM alike
GROUP BY released, registered;
