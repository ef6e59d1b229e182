-- One row per measure: the size of its worst block, how many values occur there, and how many of its
-- people have each, the most frequent first, at most 100 of them.
CREATE OR REPLACE VIEW worst_counts AS
SELECT
    worst_blocks.measure,
    any_value(worst_blocks.size) AS size,
    count(*) AS "values",
    list(
        {'value': places.value::VARCHAR, 'records': sized.people}
        ORDER BY sized.people DESC, sized.place
    )[:100] AS counts
FROM worst_blocks
JOIN sized ON sized.qid IS NOT DISTINCT FROM worst_blocks.qid
JOIN places ON places.place = sized.place
GROUP BY worst_blocks.measure;
