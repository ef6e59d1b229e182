-- One row per open part: the cut of its quasi-identifier nearest to the median, how many are on
-- either side, and the number of the part of those below it. Of two cuts as near, the one that
-- leaves more below it.
CREATE OR REPLACE VIEW cuts AS
SELECT
    part,
    tried,
    attribute,
    cut,
    least(below, size - below) >= wanted_k AS allowed,
    2 * row_number() OVER () + (
        SELECT greatest(max(chosen.part), (SELECT coalesce(max(done.part), 0) FROM done))
        FROM chosen
    ) AS child
FROM (
    SELECT
        part,
        any_value(tried) AS tried,
        any_value(attribute) AS attribute,
        any_value(size) AS size,
        arg_min(place_of, 2 * abs(2 * below - size) + (2 * below < size)::BIGINT) AS cut,
        arg_min(below, 2 * abs(2 * below - size) + (2 * below < size)::BIGINT) AS below
    FROM (
        SELECT
            part,
            tried,
            attribute,
            size,
            place_of,
            sum(people) OVER (PARTITION BY part ORDER BY place_of)::BIGINT AS below
        FROM (
            SELECT
                people.part,
                any_value(chosen.tried) AS tried,
                any_value(attribute) AS attribute,
                any_value(size) AS size,
                [place][attribute] AS place_of,
                sum(people) AS people
            FROM people JOIN chosen ON people.part = chosen.part
            WHERE attribute > 0
            GROUP BY people.part, place_of
        ) AS tallied
    ) AS added
    WHERE below < size
    GROUP BY part
) AS halved;
