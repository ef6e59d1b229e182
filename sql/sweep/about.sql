-- One row: about how many blocks there are by the attributes that are kept.
CREATE OR REPLACE VIEW about AS
SELECT approx_count_distinct(packed_key & getvariable('kept')) AS blocks
FROM finer;
