-- One row: how many lines of the user's file name a value that the secret does not have.
CREATE OR REPLACE VIEW unknown_values AS
SELECT count(*) AS lines
FROM listed
LEFT JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM listed.value
WHERE secret_values.code IS NULL OR (listed.value IS NULL AND listed.raw IS NOT NULL);
