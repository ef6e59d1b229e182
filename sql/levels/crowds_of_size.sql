-- One row per size of blocks: how many blocks have it.
CREATE OR REPLACE VIEW crowds_of_size AS
SELECT
    size AS qid_1,
    size,
    size AS members,
    count(*) AS blocks
FROM blocks
GROUP BY size;
