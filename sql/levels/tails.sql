-- One row per block: the people of its most frequent value, and those of the values from number l
-- on, the most frequent first.
CREATE OR REPLACE VIEW tails AS
SELECT
    qid,
    any_value(blocks) AS blocks,
    any_value(size) AS size,
    coalesce(any_value(stand), any_value(size)) AS members,
    max(people) AS mode,
    coalesce(sum(people) FILTER (WHERE number >= lowest_l.l), 0)::BIGINT AS tail
FROM (
    SELECT *, row_number() OVER (PARTITION BY qid ORDER BY people DESC) AS number FROM sized
) AS numbered_pieces
CROSS JOIN lowest_l
GROUP BY qid;
