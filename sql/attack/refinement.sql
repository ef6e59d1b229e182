-- Do some facts tell others? Blocks in which they do not.

-- One row: in how many blocks the secret is not determined, and how many people stand there.
CREATE OR REPLACE VIEW violations AS
SELECT
    count(*) AS blocks,
    count(*) FILTER (WHERE "values" > 1) AS violating_blocks,
    coalesce(sum(size) FILTER (WHERE "values" > 1), 0)::BIGINT AS violating_people,
    sum(size)::BIGINT AS people
FROM blocks;

-- One row per value of the secret in one block where it is not determined: the smallest such block.
CREATE OR REPLACE VIEW counterexample AS
SELECT
    cells.qid,
    cells.secret,
    cells.people
FROM cells
JOIN (
    SELECT qid
    FROM (
        SELECT
            qid,
            row_number() OVER (ORDER BY size ASC, qid ASC NULLS LAST) AS place
        FROM blocks
        WHERE "values" > 1
    ) AS ranked
    WHERE place = 1
) AS smallest ON smallest.qid IS NOT DISTINCT FROM cells.qid
ORDER BY cells.people DESC, cells.secret ASC NULLS LAST;
