-- One row per number of people and what they have in common: how many values (of the useful
-- attribute, of the secret, of both together) have so many people.
CREATE OR REPLACE VIEW spectra AS
SELECT
    part,
    people,
    count(*) AS "values"
FROM (
    SELECT 'useful' AS part, sum(people)::BIGINT AS people FROM joint GROUP BY useful
    UNION ALL
    SELECT 'secret' AS part, sum(people)::BIGINT AS people FROM joint GROUP BY secret
    UNION ALL
    SELECT 'both' AS part, sum(people)::BIGINT AS people FROM joint GROUP BY useful, secret
) AS frequencies
GROUP BY part, people;
