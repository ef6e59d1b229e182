-- One row per block and value of the secret that occurs in it, with the size of the block.
CREATE OR REPLACE VIEW sized AS
SELECT
    *,
    sum(people) OVER (PARTITION BY qid)::BIGINT AS size
FROM pieces;
