-- A release and a register: who is alike in both.

-- One row per person of whom the truth says that she is in both, and whose quasi-identifiers agree.
CREATE OR REPLACE VIEW pairs AS
SELECT release.qid
FROM release
JOIN register ON register.key = release.key AND register.qid IS NOT DISTINCT FROM release.qid;

-- No row: without the truth, nobody is known to be in both.
CREATE OR REPLACE VIEW no_pairs AS
SELECT qid
FROM release
WHERE FALSE;

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

-- One row: how many values of one quasi-identifier are in both files.
CREATE OR REPLACE VIEW common_values AS
SELECT count(common.value) AS "values"
FROM (
    SELECT release.value FROM release
    INTERSECT
    SELECT register.value FROM register
) AS common;
