-- One row: how many records have a cell of one column that contains several values of the original,
-- none, or everything; and what is lost by cells that are not suppressed: the values that cells of
-- several contain, and how far these are apart, in units, each as often as it has records.
CREATE OR REPLACE VIEW lost AS
SELECT
    coalesce(sum(records), 0)::BIGINT AS records,
    coalesce(sum(records) FILTER (WHERE width > 1 OR everything), 0)::BIGINT AS generalised,
    coalesce(sum(records) FILTER (WHERE width = 0), 0)::BIGINT AS outside,
    coalesce(sum(records) FILTER (WHERE everything), 0)::BIGINT AS suppressed,
    coalesce(sum(records::HUGEINT * width) FILTER (WHERE width > 1 AND NOT everything), 0)::HUGEINT
        AS listed,
    coalesce(sum(records::HUGEINT * CASE
        WHEN isfinite(upper - lower) THEN round((upper - lower) * units.unit)::HUGEINT
        ELSE units.whole
    END) FILTER (WHERE width > 1 AND lower < upper AND NOT everything), 0)::HUGEINT AS spanned
FROM contained
CROSS JOIN units;
