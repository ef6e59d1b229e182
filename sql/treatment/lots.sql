-- One row per record of a person with several: the lot that it draws, wherever it stands.
-- Identical records of a person draw in turn, each a lot of its own.
CREATE OR REPLACE VIEW lots AS
SELECT
    position,
    key,
    record,
    md5(concat(row_number() OVER (PARTITION BY key, record ORDER BY position), '/', record)) AS lot
FROM contenders;
