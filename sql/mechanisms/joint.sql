-- One row per value of the useful attribute, answers of the predicates (a bit for each, the first
-- is 1) and value of the secret that occur together: how many people.
CREATE OR REPLACE VIEW joint AS
SELECT
    useful,
    pattern,
    secret,
    count(*) AS people
FROM respondents
GROUP BY useful, pattern, secret;
