-- One row: how many values the secret has.
CREATE OR REPLACE VIEW domain AS
SELECT count(*) AS "values"
FROM prior_cells;
