-- One row per chunk: a range of values of the first attribute with about the wanted number of rows.
-- A value with far more rows is a chunk of its own.
CREATE OR REPLACE VIEW chunks AS
SELECT
    min(entry) AS least,
    max(entry) AS greatest,
    sum(people)::BIGINT AS people,
    giant
FROM (
    SELECT
        entry,
        people,
        giant,
        sum(CASE WHEN giant THEN 1 ELSE 0 END) OVER (ORDER BY entry) AS giants,
        (sum(CASE WHEN giant THEN 0 ELSE people END) OVER (ORDER BY entry) - people)
        // getvariable('chunk') AS chunk
    FROM (
        SELECT
            entry,
            count(*) AS people,
            count(*) > getvariable('giant') AS giant
        FROM coded
        GROUP BY entry
    ) AS counted
) AS running
GROUP BY giant, giants, CASE WHEN giant THEN 0 ELSE chunk END
ORDER BY least;
