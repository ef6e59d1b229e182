-- One row: the classes, how many records they have together, the smallest and the largest; how many
-- records are suppressed.
CREATE OR REPLACE VIEW sizes AS
SELECT
    count(*) FILTER (WHERE NOT suppressed) AS classes,
    coalesce(sum(size) FILTER (WHERE NOT suppressed), 0)::BIGINT AS records,
    min(size) FILTER (WHERE NOT suppressed) AS smallest,
    max(size) FILTER (WHERE NOT suppressed) AS largest,
    coalesce(sum(size) FILTER (WHERE suppressed), 0)::BIGINT AS suppressed
FROM classes;
