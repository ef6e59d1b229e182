-- One row: the records whose cell of one quasi-identifier is a set of several values, and the values
-- of all such sets together, each as often as it has records; the values that are to be written.
CREATE OR REPLACE VIEW counted AS
SELECT
    coalesce(sum(size) FILTER (WHERE "values" > 1), 0)::BIGINT AS generalised,
    coalesce(sum(size::HUGEINT * "values") FILTER (WHERE "values" > 1), 0)::HUGEINT AS spanned,
    coalesce(sum(size::HUGEINT * "values"), 0)::HUGEINT AS written
FROM classes JOIN sets ON classes.part = sets.part
WHERE NOT suppressed;
