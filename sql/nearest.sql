-- One row per value of the secret, a number: the highest value within the tolerance above it.
CREATE OR REPLACE VIEW nearest AS
SELECT
    numbers.code,
    numbers.value,
    CASE
        WHEN above.code IS NULL THEN numbers.code
        WHEN above.number = numbers.number THEN above.code
        WHEN above.number - numbers.number <= (SELECT tolerance FROM asked) THEN above.code
        ELSE above.code - 1
    END AS furthest
FROM numbers
ASOF LEFT JOIN numbers AS above
    ON numbers.number + (SELECT tolerance FROM asked) >= above.number;
