-- One row per class and secret: how many people.
CREATE OR REPLACE VIEW secrets_held AS
SELECT
    node AS class,
    [secrets][1] AS secret,
    sum(people)::BIGINT AS people
FROM members
GROUP BY node, secret;
