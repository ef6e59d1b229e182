-- One row per value of the useful attribute that occurs or is listed: its place in the order, from
-- 0. Listed values come first, in the order of the list, others in their own; a missing value is
-- last.
CREATE OR REPLACE VIEW places AS
SELECT
    useful,
    "position",
    row_number() OVER (ORDER BY "position" ASC NULLS LAST, useful ASC NULLS LAST) - 1 AS place
FROM (
    SELECT useful, min("position") AS "position"
    FROM (
        SELECT useful, NULL::BIGINT AS "position" FROM joint
        UNION ALL
        SELECT useful, "position" FROM listed
    ) AS every_value
    GROUP BY useful
) AS possible;
