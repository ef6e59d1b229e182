-- A column: how often its values occur.

-- One row per number of records that share a value of a column: how many values have that many,
-- the missing value apart.
CREATE OR REPLACE VIEW frequencies AS
SELECT
    weight AS records,
    secret IS NULL AS missing,
    count(*) AS "values"
FROM cells
GROUP BY ALL;
