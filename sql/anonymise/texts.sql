-- One row per class: the values of one quasi-identifier in it as a text: one value as it is, several
-- as {a,b}, where nothing between two commas is the missing value. Values with signs of their own
-- are quoted; one value that reads like a generalised cell stands in braces, too.
CREATE OR REPLACE VIEW texts AS
SELECT
    part,
    count(*) AS "values",
    CASE
        WHEN count(*) > 1 THEN concat('{', string_agg(item, ',' ORDER BY code), '}')
        WHEN any_value(special) THEN concat('{', any_value(item), '}')
        ELSE any_value(told)
    END AS cell
FROM (
    SELECT
        part,
        code,
        told,
        special,
        CASE
            WHEN told IS NULL THEN ''
            WHEN special OR regexp_matches(told, '[,{}"\r\n]')
            THEN concat('"', replace(told, '"', '""'), '"')
            ELSE told
        END AS item
    FROM (
        SELECT
            part,
            code,
            told,
            coalesce(
                regexp_matches(
                    told, '^$|^[\[\](){}<>*]|[*?]$|^[0-9]+-[0-9]+$|^[\s\p{Z}]|[\s\p{Z}]$'
                ),
                FALSE
            ) AS special
        FROM (
            SELECT
                part,
                code,
                value::VARCHAR AS told
            FROM (SELECT DISTINCT part, own_place AS place FROM done) AS different
            JOIN scale ON different.place = scale.place
        ) AS values_of_class
    ) AS looked_at
) AS items
GROUP BY part;
