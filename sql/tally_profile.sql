-- The profile of one secret with few values, from its tallies.
CREATE OR REPLACE VIEW tally_profile AS
SELECT
    size,
    list_max([tally]) AS mode,
    list_sum([least(tally, 1)])::BIGINT AS "values",
    sum(blocks)::BIGINT AS blocks
FROM signatures
GROUP BY ALL;
