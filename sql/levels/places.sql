-- One row per value of the secret in its order, missing last: its place from 1, how many people
-- have it, how many have it or one before it (up_to), and the sum of these numbers up to here.
CREATE OR REPLACE VIEW places AS
SELECT
    *,
    sum(up_to) OVER (ORDER BY place)::BIGINT AS summed
FROM (
    SELECT
        secret AS value,
        people AS everybody,
        row_number() OVER (ORDER BY secret ASC NULLS LAST) AS place,
        sum(people) OVER (ORDER BY secret ASC NULLS LAST)::BIGINT AS up_to
    FROM prior_cells
) AS ordered_values;
