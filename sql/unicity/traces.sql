-- One row per person and different point of hers: a tuple of quasi-identifiers that her records have.
CREATE OR REPLACE VIEW traces AS
SELECT DISTINCT
    key,
    qid
FROM microdata
WHERE key IS NOT NULL;
