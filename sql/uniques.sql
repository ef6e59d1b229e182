-- One row: how many people the blocks hold, and how many of them are alone in their block.
CREATE OR REPLACE VIEW uniques AS
SELECT
    coalesce(sum(size), 0)::BIGINT AS people,
    count(*) FILTER (WHERE size = 1) AS singled_out
FROM blocks;
