-- One row per side of a cut and value of the secret: how many people have it.
CREATE OR REPLACE VIEW sided AS
SELECT
    part,
    side,
    secret AS value,
    sum(people)::BIGINT AS people
FROM sides
GROUP BY part, side, secret;
