-- One row per block of the first attribute: its people, the stratum of blocks of about its size, from
-- 0, and its place among them in a random order, which depends on the seed.
CREATE OR REPLACE VIEW lots AS
SELECT
    entry,
    people,
    stratum,
    row_number() OVER (
        PARTITION BY stratum
        ORDER BY md5(concat_ws('/', getvariable('seed'), getvariable('first'), entry)), entry
    ) - 1 AS place
FROM (
    SELECT
        entry,
        people,
        len(list_filter(getvariable('limits'), lambda size: people > size)) AS stratum
    FROM (
        SELECT
            entry,
            sum(people(word))::BIGINT AS people
        FROM coded
        GROUP BY entry
    ) AS counted
) AS ranked;
