-- Partitions: parts are cut at medians (Mondrian), all of a level at once; groups of k are made around the
-- people farthest from the centre (MDAV).

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

-- One row per open part: how many are in it, and the ends of its places.
CREATE OR REPLACE VIEW extents AS
SELECT
    part,
    any_value(tried) AS tried,
    sum(people)::BIGINT AS size,
    count(*) AS rows_of_part,
    min(place) AS low,
    max(place) AS high
FROM people
GROUP BY part;

-- One row per open part: for quasi-identifiers with a hierarchy, the width of the lowest node with all
-- values of the part, and the cut that leaves its children (see ``halves``).
CREATE OR REPLACE VIEW forks AS
SELECT
    part,
    map(list(attribute), list(width)) AS widths,
    map(list(attribute), list(cut)) AS cuts
FROM (
    SELECT
        part,
        attribute,
        min(width) AS width,
        arg_min(cut, last_place - first_place) AS cut
    FROM (
        SELECT
            part,
            unnest([low]) AS smallest,
            unnest([high]) AS largest,
            generate_subscripts([low], 1) AS number_of_place
        FROM extents
    ) AS ends JOIN branches
        ON number_of_place = attribute AND smallest >= first_place AND largest <= last_place
    WHERE smallest < largest
    GROUP BY part, attribute
) AS lowest
GROUP BY part;

-- One row per open part: the quasi-identifier to cut it by, the widest of those not tried yet, the
-- first of equally wide ones; 0 where none can be cut. The fork is NULL where values are cut at a median.
{# chosen(trees=False), chosen(trees=True) #}
CREATE OR REPLACE VIEW chosen AS
SELECT
    part,
    tried,
    size,
    attribute,
    {{ "map_extract_value(cuts, attribute)" if trees else "NULL::BIGINT" }} AS fork
FROM (
    SELECT
        part,
        tried,
        size,
        {{ "cuts," if trees }}
        CASE
            WHEN size < 2 * wanted_k OR rows_of_part <= wanted_rows OR list_max(spread) = 0 THEN 0
            ELSE list_position(spread, list_max(spread))
        END::BIGINT AS attribute
    FROM (
        SELECT
            part,
            tried,
            size,
            rows_of_part,
            {{ "cuts," if trees }}
            [
                CASE
                    WHEN (tried >> (number - 1)) & 1 = 1 THEN 0
                    {% if trees %}
                    WHEN by_tree = 1 THEN coalesce(map_extract_value(widths, number), 0)
                    {% endif %}
                    ELSE high - low
                END
            ] AS spread
        FROM extents {{ "LEFT JOIN forks USING (part)" if trees }}
    ) AS measured
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

-- One row per open part: the cut of its quasi-identifier, a fork of a hierarchy or the one nearest to
-- the median. Of two cuts as near, the one that leaves more below it.
CREATE OR REPLACE VIEW cuts AS
SELECT
    part,
    any_value(tried) AS tried,
    any_value(attribute) AS attribute,
    coalesce(
        any_value(fork),
        arg_min(place_of, 2 * abs(2 * below - size) + (2 * below < size)::BIGINT)
    ) AS cut
FROM (
    SELECT
        part,
        tried,
        attribute,
        size,
        fork,
        place_of,
        sum(people) OVER (PARTITION BY part ORDER BY place_of)::BIGINT AS below
    FROM (
        SELECT
            people.part,
            any_value(chosen.tried) AS tried,
            any_value(attribute) AS attribute,
            any_value(size) AS size,
            any_value(fork) AS fork,
            [place][attribute] AS place_of,
            sum(people) AS people
        FROM people JOIN chosen ON people.part = chosen.part
        WHERE attribute > 0
        GROUP BY people.part, place_of
    ) AS tallied
) AS added
WHERE below < size
GROUP BY part;

-- One row per open part and side of its cut: a child of the node, or below (0) and above (1) the median;
-- the number of the part that it becomes, and whether all sides of the cut have enough records.
CREATE OR REPLACE VIEW halves AS
SELECT
    part,
    side,
    min(people) OVER (PARTITION BY part) >= wanted_k AS allowed,
    row_number() OVER () + (
        SELECT greatest(max(chosen.part), (SELECT coalesce(max(done.part), 0) FROM done))
        FROM chosen
    ) AS child
FROM (
    SELECT
        people.part,
        [CASE WHEN by_tree = 1 THEN place >> cut ELSE (place > cut)::BIGINT END][attribute] AS side,
        sum(people)::BIGINT AS people
    FROM people JOIN cuts ON people.part = cuts.part
    GROUP BY people.part, side
) AS counted;

-- One row per different person of an open part: the part after the cut. Where the cut is refused
-- the part stays, and its quasi-identifier has been tried.
CREATE OR REPLACE VIEW people_next AS
SELECT
    CASE WHEN refused.part IS NULL AND allowed THEN child ELSE people.part END AS part,
    CASE
        WHEN refused.part IS NULL AND allowed THEN 0
        ELSE cuts.tried | (1::BIGINT << (attribute - 1))
    END AS tried,
    place,
    secrets,
    people
FROM people
JOIN cuts ON people.part = cuts.part
JOIN halves
    ON people.part = halves.part
    AND [CASE WHEN by_tree = 1 THEN place >> cut ELSE (place > cut)::BIGINT END][attribute] = halves.side
LEFT JOIN refused ON cuts.part = refused.part;

-- One row per different person of a part, numbered from 1 in the order of the places.
CREATE OR REPLACE VIEW near AS
SELECT
    part,
    row_number() OVER (PARTITION BY part ORDER BY place) AS id,
    place,
    people
FROM done;

-- One row per different person of a part and person of the data who has such records, where people may
-- have several.
CREATE OR REPLACE VIEW holders AS
SELECT DISTINCT
    near.part,
    near.id,
    coded.person
FROM near JOIN coded USING (place);

-- One row per part: its records or people, and around where the next group is made. Where the last group had
-- an opposite, there; else (fresh) around the person farthest from the centroid, of people as far
-- the last one. The centroid is rounded down to the grid of 2^20 steps, so that squares of
-- distances are whole numbers.
{# poles(people=False), poles(people=True) #}
CREATE OR REPLACE VIEW poles AS
SELECT
    part,
    size,
    pole,
    fresh
FROM (
    SELECT
        near.part,
        any_value(centers.size) AS size,
        arg_max(
            [(place >> 10)::BIGINT],
            (added([((place >> 10) - list_extract(center, number)) * ((place >> 10) - list_extract(center, number))]) << 17)
            + id
        ) AS pole,
        TRUE AS fresh
    FROM near JOIN (
        SELECT
            part,
            {{ "any_value(crowd)" if people else "sum(people)" }}::BIGINT AS size,
            [(sum((place >> 10)::BIGINT * people) // sum(people))::BIGINT] AS center
        FROM near
        {% if people %}
        JOIN (
            SELECT
                holders.part,
                count(DISTINCT holders.person) AS crowd
            FROM holders
            SEMI JOIN near ON holders.part = near.part AND holders.id = near.id
            GROUP BY holders.part
        ) AS crowds USING (part)
        {% endif %}
        ANTI JOIN carried USING (part)
        GROUP BY part
    ) AS centers ON near.part = centers.part
    GROUP BY near.part
    UNION ALL
    SELECT
        part,
        size,
        pole,
        FALSE AS fresh
    FROM carried
) AS every_pole;

-- One row per part: the group around its pole. It ends with the k-th record in the order of the
-- distance from the pole; ``last`` is the distance and number of its last person, NULL where less
-- than k records would be left behind: then it is all there are. ``opposite`` is where the person
-- farthest from the pole is.
CREATE OR REPLACE VIEW groups AS
SELECT
    part,
    any_value(fresh) AS fresh,
    any_value(size) AS size,
    any_value(size) - max(upto) AS remaining,
    CASE WHEN any_value(size) - max(upto) >= wanted_k THEN max(packed) END AS last_of_group,
    any_value(pole) AS pole,
    any_value(opposite) AS opposite
FROM (
    SELECT
        listed.part,
        fresh,
        size,
        pole,
        opposite,
        packed,
        near.people,
        sum(near.people) OVER (PARTITION BY listed.part ORDER BY packed)::BIGINT AS upto
    FROM (
        SELECT
            part,
            fresh,
            size,
            pole,
            opposite,
            unnest(nearest) AS packed
        FROM (
            SELECT
                near.part,
                any_value(fresh) AS fresh,
                any_value(size) AS size,
                any_value(pole) AS pole,
                min(
                    (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17)
                    + id,
                    wanted_k
                ) AS nearest,
                arg_max(
                    [(place >> 10)::BIGINT],
                    (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17)
                    + id
                ) AS opposite
            FROM near JOIN poles ON near.part = poles.part
            GROUP BY near.part
        ) AS around
    ) AS listed
    JOIN near ON listed.part = near.part AND (packed & 131071) = near.id
) AS added_up
WHERE upto - people < wanted_k
GROUP BY part;

-- One row per part of people who may have several records: the group around its pole, as in ``groups``.
-- It ends with the nearest record of the k-th different person; those that remain have a record behind
-- it, and are counted as people.
CREATE OR REPLACE VIEW groups_of_people AS
SELECT
    part,
    any_value(fresh) AS fresh,
    any_value(size) AS size,
    count(*) FILTER (WHERE farthest > radius) AS remaining,
    CASE WHEN count(*) FILTER (WHERE farthest > radius) >= wanted_k THEN any_value(radius) END
        AS last_of_group,
    any_value(pole) AS pole,
    arg_max(opposite, farthest) AS opposite
FROM (
    SELECT
        *,
        list_max(min(nearest, wanted_k) OVER (PARTITION BY part)) AS radius
    FROM (
        SELECT
            part,
            any_value(fresh) AS fresh,
            any_value(size) AS size,
            any_value(pole) AS pole,
            min(packed) AS nearest,
            max(packed) AS farthest,
            arg_max(spot, packed) AS opposite
        FROM (
            SELECT
                near.part,
                fresh,
                size,
                pole,
                holders.person,
                [(place >> 10)::BIGINT] AS spot,
                (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17)
                + near.id AS packed
            FROM near
            JOIN poles ON near.part = poles.part
            JOIN holders ON near.part = holders.part AND near.id = holders.id
        ) AS packed_records
        GROUP BY part, person
    ) AS reached
) AS ranged
GROUP BY part;

-- One row per different person who is in a group now: the number of the group in place of the part.
CREATE OR REPLACE VIEW grouped AS
SELECT
    (near.part << 20) + getvariable('turn')::BIGINT AS part,
    place,
    people
FROM near JOIN groups ON near.part = groups.part
WHERE
    last_of_group IS NULL
    OR (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17) + id
    <= last_of_group;

-- One row per different person who is in no group yet.
CREATE OR REPLACE VIEW near_next AS
SELECT
    near.part,
    id,
    place,
    people
FROM near JOIN groups ON near.part = groups.part
WHERE
    last_of_group IS NOT NULL
    AND (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17) + id
    > last_of_group;

-- One row per part in which the next group is made around the opposite of the last one.
CREATE OR REPLACE VIEW carried AS
SELECT
    part,
    remaining AS size,
    opposite AS pole
FROM groups
WHERE fresh AND size >= 3 * wanted_k AND last_of_group IS NOT NULL;
