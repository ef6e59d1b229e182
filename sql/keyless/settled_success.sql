-- One row with the columns of success about the settled observations.
CREATE OR REPLACE VIEW settled_success AS
SELECT
    coalesce(sum(observations), 0)::BIGINT AS observations,
    coalesce(sum(records), 0) * any_value(unit) AS total,
    coalesce(sum(most), 0) * any_value(unit) AS most,
    coalesce(sum(records) FILTER (WHERE possible = 1), 0) * any_value(unit) AS certain,
    coalesce(sum(observations) FILTER (WHERE possible = 1), 0)::BIGINT AS revealing,
    max(most::DOUBLE / records::DOUBLE) AS worst_case,
    coalesce(sum(possible * observations), 0)::BIGINT AS possible
FROM settled_blocks
CROSS JOIN asked;
