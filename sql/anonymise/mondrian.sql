-- Mondrian: parts are cut at medians, all of a level at once.

-- One row per different person: part is the stratum, 1 where there are none; nothing was tried yet.
CREATE OR REPLACE VIEW people AS
SELECT
    own_stratum::BIGINT AS part,
    0::BIGINT AS tried,
    place,
    secrets,
    count(*) AS people
FROM coded
GROUP BY place, secrets;

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

-- One row per different quasi-identifier tuple of the parts that are finished: how many have it.
CREATE OR REPLACE VIEW done AS
SELECT
    people.part,
    place,
    sum(people.people)::BIGINT AS people
FROM people JOIN chosen ON people.part = chosen.part
WHERE attribute = 0
GROUP BY people.part, place;

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

-- One row per different person of an open part: the part after the cut. Where the cut is refused
-- the part stays, and its quasi-identifier has been tried.
CREATE OR REPLACE VIEW people_next AS
SELECT
    CASE
        WHEN refused.part IS NULL AND allowed
        THEN child + ([place][attribute] > cut)::BIGINT
        ELSE people.part
    END AS part,
    CASE
        WHEN refused.part IS NULL AND allowed THEN 0
        ELSE cuts.tried | (1::BIGINT << (attribute - 1))
    END AS tried,
    place,
    secrets,
    people
FROM people
JOIN cuts ON people.part = cuts.part
LEFT JOIN refused ON cuts.part = refused.part;
