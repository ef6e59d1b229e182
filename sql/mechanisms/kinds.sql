-- One row per kind of values of the secret: those that occur with the same places of the useful
-- attribute and patterns of answers, so many people each (place, pattern, people).
CREATE OR REPLACE VIEW kinds AS
SELECT DISTINCT cells
FROM (
    SELECT
        secret,
        list([place, pattern, people] ORDER BY place ASC, pattern ASC) AS cells
    FROM placed
    GROUP BY secret
) AS of_values;
