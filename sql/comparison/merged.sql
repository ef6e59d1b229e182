-- One row per value of a coarser column: its records, how many values of the original it merges,
-- and the positions of the first and the last of them.
CREATE OR REPLACE VIEW merged AS
SELECT
    sum(people)::BIGINT AS records,
    count(*)::BIGINT AS width,
    FALSE AS everything,
    min(position) AS lower,
    max(position) AS upper
FROM states
GROUP BY state;
