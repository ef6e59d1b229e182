-- One row: how many kinds of records have a candidate.
CREATE OR REPLACE VIEW linkable AS
SELECT count(*) AS kinds
FROM totals;
