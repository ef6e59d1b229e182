-- Keys that several records of a log share.

-- One row: how many keys records have, and how many of these keys several records have. Records
-- without a key are nobody's.
CREATE OR REPLACE VIEW persons AS
SELECT
    count(*) AS people,
    count(*) FILTER (WHERE records > 1) AS several
FROM (
    SELECT
        key,
        count(*) AS records
    FROM keyed
    WHERE key IS NOT NULL
    GROUP BY key
) AS counted;
