-- One row: how far the people are spread over the values of an attribute.
CREATE OR REPLACE VIEW spread AS
SELECT
    count(*) AS "values",
    sum(people)::BIGINT AS people,
    max(people)::BIGINT AS most_frequent,
    sum(people::HUGEINT * people) AS together
FROM dictionary;
