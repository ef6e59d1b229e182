-- One row: how many people there are; one, of the type in which products of people are worked out
-- (qifsql takes 64 bits where they are enough); how many values the secret has; and how many people
-- have the rarest and the commonest.
CREATE OR REPLACE VIEW whole AS
SELECT
    sum(everybody)::HUGEINT AS people,
    1::HUGEINT AS one,
    count(*) AS "values",
    min(everybody) AS rarest,
    max(everybody) AS commonest
FROM places;
