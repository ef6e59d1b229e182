-- One row: how many people there are, and how many values the secret has. A 128-bit number, so
-- that products of people never overflow.
CREATE OR REPLACE VIEW whole AS
SELECT
    sum(everybody)::HUGEINT AS people,
    count(*) AS "values",
    min(everybody) AS rarest,
    max(everybody) AS commonest
FROM places;
