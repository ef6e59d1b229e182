-- One row per open part: the quasi-identifier to cut it by, the widest of those not tried yet, the
-- first of equally wide ones; 0 where none can be cut.
CREATE OR REPLACE VIEW chosen AS
SELECT
    part,
    tried,
    size,
    CASE
        WHEN size < 2 * wanted_k OR rows_of_part <= wanted_rows OR list_max(widths) = 0 THEN 0
        ELSE list_position(widths, list_max(widths))
    END::BIGINT AS attribute
FROM (
    SELECT
        part,
        tried,
        size,
        rows_of_part,
        [CASE WHEN (tried >> (number - 1)) & 1 = 0 THEN high - low ELSE 0 END] AS widths
    FROM (
        SELECT
            part,
            any_value(tried) AS tried,
            sum(people)::BIGINT AS size,
            count(*) AS rows_of_part,
            min(place) AS low,
            max(place) AS high
        FROM people
        GROUP BY part
    ) AS spans
) AS wide;
