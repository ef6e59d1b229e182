-- One row about a column that may change: the pairs of records of one person, how many of them have
-- one value, how many records of the later release have the earlier value, over all pairs, and how
-- many records that release has.
CREATE OR REPLACE VIEW stays AS
SELECT
    count(*) AS pairs,
    count(*) FILTER (WHERE mine.value IS NOT DISTINCT FROM theirs.value) AS same,
    coalesce(sum(frequencies.records), 0)::HUGEINT AS alike,
    (SELECT count(*) FROM everybody) AS others
FROM mine
JOIN theirs ON theirs.key = mine.key
LEFT JOIN (SELECT value, count(*) AS records FROM everybody GROUP BY value) AS frequencies
    ON frequencies.value IS NOT DISTINCT FROM mine.value;
