-- One row: how many lines of the user's file name a value that the secret does not have, and how many
-- lines `*` there are besides, which stand for the values that no line names.
CREATE OR REPLACE VIEW unknown_values AS
SELECT
    count(*) FILTER (WHERE raw IS DISTINCT FROM '*') AS lines,
    count(*) FILTER (WHERE raw = '*') AS rest
FROM (
    SELECT listed.raw
    FROM listed
    LEFT JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM listed.value
    WHERE secret_values.code IS NULL OR (listed.value IS NULL AND listed.raw IS NOT NULL)
) AS unknown;
