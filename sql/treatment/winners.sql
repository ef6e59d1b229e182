-- One row per person with several records: where the one with the least lot stands. Equal lots of
-- different records are told apart by the records.
CREATE OR REPLACE VIEW winners AS
SELECT
    key,
    arg_min(position, concat(lot, record)) AS position
FROM lots
GROUP BY key;
