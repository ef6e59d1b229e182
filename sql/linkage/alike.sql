-- One row per tuple of quasi-identifiers without a missing value: how many records of the release
-- and of the register have it, and how many pairs of these are of one person.
CREATE OR REPLACE VIEW alike AS
SELECT
    qid,
    sum(released)::BIGINT AS released,
    sum(registered)::BIGINT AS registered,
    sum(same)::BIGINT AS same
FROM (
    SELECT
        qid,
        1 AS released,
        0 AS registered,
        0 AS same
    FROM release
    UNION ALL
    SELECT
        qid,
        0 AS released,
        1 AS registered,
        0 AS same
    FROM register
    UNION ALL
    SELECT
        qid,
        0 AS released,
        0 AS registered,
        1 AS same
    FROM pairs
) AS everybody
GROUP BY qid;
