-- One row: in how many blocks the secret is not determined, and how many people stand there.
CREATE OR REPLACE VIEW violations AS
SELECT
    count(*) AS blocks,
    count(*) FILTER (WHERE "values" > 1) AS violating_blocks,
    coalesce(sum(size) FILTER (WHERE "values" > 1), 0)::BIGINT AS violating_people,
    sum(size)::BIGINT AS people
FROM blocks;
