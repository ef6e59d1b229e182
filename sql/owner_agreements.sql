-- One row per set of quasi-identifiers in which people agree with the target, as a number of bits:
-- how many people.
CREATE OR REPLACE VIEW owner_agreements AS
SELECT
    mask,
    count(*) AS people
FROM agreement
GROUP BY mask;
