-- One row per pattern of answers of the predicates: how many people.
CREATE OR REPLACE VIEW totals AS
SELECT
    pattern,
    sum(people)::BIGINT AS people
FROM joint
GROUP BY pattern
ORDER BY pattern;
