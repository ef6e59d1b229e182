-- One row per value of an attribute, numbered from 0 in the attribute's order, missing last: how
-- many people have it.
CREATE OR REPLACE VIEW dictionary AS
SELECT
    value,
    row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS code,
    people
FROM (
    SELECT
        attribute AS value,
        count(*) AS people
    FROM microdata
    GROUP BY value
) AS counted;
