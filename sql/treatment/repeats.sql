-- One row per key that several records have, and one for the records without a key: how many.
CREATE OR REPLACE VIEW repeats AS
SELECT
    key,
    count(*) AS records
FROM keyed
GROUP BY key
HAVING count(*) > 1 OR key IS NULL;
