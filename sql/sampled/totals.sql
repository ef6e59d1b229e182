-- One row: the records of a sample with weights, and all, the least and the largest of the weights,
-- which were made whole numbers by a unit.
CREATE OR REPLACE VIEW totals AS
SELECT
    count(*) AS records,
    sum(weight) AS weight,
    min(weight) AS least,
    max(weight) AS most,
    (SELECT unit FROM asked) AS unit
FROM microdata;
