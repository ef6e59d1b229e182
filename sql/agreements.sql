-- One row per set of quasi-identifiers in which people agree with the target, as a number of bits:
-- how many people, and the first and the last of the numbered values of the secret they have.
CREATE OR REPLACE VIEW agreements AS
SELECT
    agreement.mask,
    count(*) AS people,
    min(secret_values.code) AS first_code,
    max(secret_values.code) AS last_code
FROM agreement
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM agreement.secret
GROUP BY agreement.mask;
