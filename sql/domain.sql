-- One row: how many values the secret has, whether a missing one is among them, how many people.
CREATE OR REPLACE VIEW domain AS
SELECT
    count(*) AS "values",
    count(*) FILTER (WHERE secret IS NULL) AS missing,
    sum(people)::BIGINT AS people
FROM prior_cells;
