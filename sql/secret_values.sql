-- One row per value of the secret, numbered from 1 in the secret's order, missing last.
CREATE OR REPLACE VIEW secret_values AS
SELECT
    secret AS value,
    row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code
FROM prior_cells;
