-- One row: the records whose cell of one quasi-identifier stands for several values, and the length
-- of all intervals together, each as often as it has records; the cells that are written.
CREATE OR REPLACE VIEW spans AS
SELECT
    coalesce(sum(size) FILTER (WHERE low < high), 0)::BIGINT AS generalised,
    coalesce(sum(size::HUGEINT * (high - low)), 0)::HUGEINT AS spanned,
    coalesce(sum(size), 0)::HUGEINT AS written
FROM classes
WHERE NOT suppressed;
