-- One row: the size of the block, how many values occur in it, and how many of its people have each,
-- the most frequent first, at most 100 of them.
CREATE OR REPLACE VIEW worst_counts AS
SELECT
    any_value(worst_block.size) AS size,
    count(*) AS "values",
    list(
        {'value': places.value::VARCHAR, 'records': sized.people}
        ORDER BY sized.people DESC, sized.place
    )[:100] AS counts
FROM worst_block
JOIN sized ON sized.qid IS NOT DISTINCT FROM worst_block.qid
JOIN places ON places.place = sized.place;
