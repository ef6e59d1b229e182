-- One row per pattern of answers and value of the secret that occur together, wherever the useful
-- attribute has its place: how many people.
CREATE OR REPLACE VIEW unplaced AS
SELECT
    0::BIGINT AS place,
    pattern,
    secret,
    sum(people)::BIGINT AS people
FROM joint
GROUP BY pattern, secret;
