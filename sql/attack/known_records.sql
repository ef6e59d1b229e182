-- People of whom one record is known: the blocks of equal records, and who is certain in them.

-- One row per block of equal records and secret: how many people have such a record and that
-- secret, and how many records of theirs are in the block.
CREATE OR REPLACE VIEW known_cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    sum(alike)::BIGINT AS records
FROM microdata
GROUP BY qid, secret;

-- One row per block of equal records: how many people have one in it, how many of these have the
-- most frequent secret, how many secrets they have, and how many records the block holds.
CREATE OR REPLACE VIEW known_blocks AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    max(people) AS mode,
    count(*) AS "values",
    sum(records)::BIGINT AS records
FROM known_cells
GROUP BY qid;

-- One row per block of equal records when the secret is whose record it is.
CREATE OR REPLACE VIEW known_owners AS
SELECT
    qid,
    count(*) AS size,
    1::BIGINT AS mode,
    count(*) AS "values",
    sum(alike)::BIGINT AS records
FROM microdata
GROUP BY qid;

-- One row per kind of block of equal records: how many blocks there are, and their records.
CREATE OR REPLACE VIEW known_profile AS
SELECT
    size,
    mode,
    "values",
    count(*) AS blocks,
    sum(records)::BIGINT AS records
FROM known_blocks
GROUP BY size, mode, "values";

-- One row: how many people have a record that singles them out, and how many have one in a block
-- with one secret.
CREATE OR REPLACE VIEW known_certain AS
SELECT
    count(*) FILTER (WHERE alone_there) AS singled_out,
    count(*) FILTER (WHERE certain) AS certain
FROM (
    SELECT
        bool_or(known_blocks.size = 1) AS alone_there,
        bool_or(known_blocks."values" = 1) AS certain
    FROM microdata
    JOIN known_blocks ON known_blocks.qid IS NOT DISTINCT FROM microdata.qid
    GROUP BY microdata.person, microdata.alone
) AS everybody;
