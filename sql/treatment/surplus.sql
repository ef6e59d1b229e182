-- One row: how many people have several records, how many of these are too many, and how many
-- records have no key.
CREATE OR REPLACE VIEW surplus AS
SELECT
    count(*) FILTER (WHERE key IS NOT NULL) AS people_with_several,
    coalesce(sum(records - 1) FILTER (WHERE key IS NOT NULL), 0)::BIGINT AS dropped,
    coalesce(sum(records) FILTER (WHERE key IS NULL), 0)::BIGINT AS without_key
FROM repeats;
