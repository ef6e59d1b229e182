-- The profile of one secret with few values, from its tallies. The last value is not tallied:
-- it is what the others leave.
CREATE OR REPLACE VIEW tally_profile AS
SELECT
    size,
    list_max(list_append([tally], last_tally)) AS mode,
    list_sum(list_append([least(tally, 1)], least(last_tally, 1)))::BIGINT AS "values",
    sum(blocks)::BIGINT AS blocks
FROM (
    SELECT
        *,
        size - coalesce(list_sum([tally]), 0)::BIGINT AS last_tally
    FROM signatures
) AS signatures
GROUP BY ALL;
