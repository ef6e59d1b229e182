-- A secret in its blocks: its values, kinds of blocks, what moves along its order and hierarchy.

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

-- One row: how many people there are; one, of the type in which products of people are worked out
-- (qifsql takes 64 bits where they are enough); how many values the secret has; whether one of them
-- is missing (0 or 1); and how many people have the rarest and the commonest.
CREATE OR REPLACE VIEW whole AS
SELECT
    sum(everybody)::HUGEINT AS people,
    1::HUGEINT AS one,
    count(*) AS "values",
    count(*) FILTER (WHERE value IS NULL) AS missing,
    min(everybody) AS rarest,
    max(everybody) AS commonest
FROM places;

-- One row per block and value of the secret that occurs in it: how many of the block's people
-- have that value, and how many people in all. `stand` is how many people the block is about,
-- where these are not all who are in it.
CREATE OR REPLACE VIEW pieces AS
SELECT
    cells.qid,
    cells.people,
    1::BIGINT AS blocks,
    NULL::BIGINT AS stand,
    places.place,
    places.everybody
FROM cells
JOIN places ON cells.secret IS NOT DISTINCT FROM places.value;

-- One row per kind of block by its counts of all values of the secret, numbered in their order.
CREATE OR REPLACE VIEW kinds AS
SELECT
    row_number() OVER (ORDER BY counts) AS kind,
    counts,
    blocks
FROM tally_counts;

-- One row per kind of block and value of the secret that occurs in it: how many people of a block
-- have that value, how many people in all, and how many blocks are of that kind.
CREATE OR REPLACE VIEW kind_pieces AS
SELECT
    kind_counts.kind AS qid_1,
    kind_counts.people,
    kind_counts.blocks,
    NULL::BIGINT AS stand,
    places.place,
    places.everybody
FROM (
    SELECT
        kind,
        blocks,
        unnest(counts) AS people,
        unnest(range(1, len(counts) + 1)) AS place
    FROM kinds
) AS kind_counts
JOIN places ON places.place = kind_counts.place
WHERE kind_counts.people > 0;

-- One row per block and value of the secret that occurs in it, with the size of the block.
CREATE OR REPLACE VIEW sized AS
SELECT
    *,
    sum(people) OVER (PARTITION BY qid)::BIGINT AS size
FROM pieces;

-- One row per value of the secret and level of its hierarchy, from 0, the value itself: the node
-- above the value there, and how many people are below that node.
CREATE OR REPLACE VIEW ancestors AS
SELECT
    places.place,
    rungs.level,
    rungs.node,
    sum(places.everybody) OVER (PARTITION BY rungs.level, rungs.node)::BIGINT AS everybody
FROM places
JOIN rungs ON rungs.leaf IS NOT DISTINCT FROM places.value::VARCHAR;

-- One row per block and node of the hierarchy that has people of it below: how many they are.
CREATE OR REPLACE VIEW branches AS
SELECT
    sized.qid,
    ancestors.level,
    ancestors.node,
    any_value(sized.blocks) AS blocks,
    any_value(sized.size) AS size,
    any_value(sized.stand) AS stand,
    any_value(ancestors.everybody) AS everybody,
    sum(sized.people)::BIGINT AS people,
    count(*) AS "values"
FROM sized
JOIN ancestors ON ancestors.place = sized.place
GROUP BY sized.qid, ancestors.level, ancestors.node;

-- One row per block: how far probability moves from the release to the block through the
-- hierarchy, times size and people: the sum over the levels of what moves between the nodes of a
-- level.
CREATE OR REPLACE VIEW climbed AS
SELECT
    branches.qid,
    any_value(branches.blocks) AS blocks,
    any_value(branches.size) AS size,
    coalesce(any_value(branches.stand), any_value(branches.size)) AS members,
    any_value(whole.people) AS whole_people,
    sum(
        greatest(0, branches.people * whole.people - whole.one * branches.everybody * branches.size)
    )::HUGEINT AS moved
FROM branches
CROSS JOIN whole
GROUP BY branches.qid;

-- One row per size of blocks: how many blocks have it.
CREATE OR REPLACE VIEW crowds_of_size AS
SELECT
    size AS qid_1,
    size,
    size AS members,
    count(*) AS blocks
FROM blocks
GROUP BY size;

-- One row per block: its size, how many people it is about (members), how many values occur, how
-- many of them without a missing one (reported), how many people have the most frequent one; how much probability moves from the release to the block
-- (moved, times size and people); the sum of n log2 n; the largest and the least ratio of a value's
-- people to its people in all, and these people in all; whether the gain of a value is beyond minus
-- the logarithm of its share in the release.
CREATE OR REPLACE VIEW grades AS
SELECT
    qid,
    any_value(blocks) AS blocks,
    any_value(size) AS size,
    coalesce(any_value(stand), any_value(size)) AS members,
    count(*) AS "values",
    count(*) FILTER (WHERE place <= last_reported) AS reported,
    max(people) AS mode,
    sum(greatest(0, people * whole_people - one * everybody * size))::HUGEINT AS moved,
    sum(people * log2(people)) AS logs,
    max(people / everybody) AS highest,
    arg_max(everybody, people / everybody) AS highest_everybody,
    min(people / everybody) AS lowest,
    arg_min(everybody, people / everybody) AS lowest_everybody,
    bool_or(gain > cap) AS beyond
FROM (
    SELECT
        sized.*,
        whole.people AS whole_people,
        whole.one AS one,
        whole."values" - whole.missing AS last_reported,
        sized.people * (whole.people / sized.everybody) / sized.size - 1 AS gain,
        -ln(sized.everybody / whole.people) AS cap
    FROM sized
    CROSS JOIN whole
) AS pieces_of_all
GROUP BY qid;

-- One row: the fewest values in a block.
CREATE OR REPLACE VIEW extremes AS
SELECT min("values") AS fewest
FROM grades;

-- One row per block and stretch of places, in the order of the secret's values, along which no
-- more people of the block are met: from which place to which, and how many were met.
CREATE OR REPLACE VIEW stretches AS
SELECT
    sized.*,
    lead(place, 1, whole."values" + 1) OVER (PARTITION BY qid ORDER BY place) - 1 AS last_place,
    sum(sized.people) OVER (PARTITION BY qid ORDER BY place)::BIGINT AS met,
    whole.people AS whole_people,
    whole.one AS one,
    whole."values" AS whole_values
FROM sized
CROSS JOIN whole;

-- One row per block: how far probability moves from the release to the block along the order of
-- the values, times size and people. Along a stretch the share of the block stays and that of the
-- release grows: `crossing` is the last place at which the block's is not below.
CREATE OR REPLACE VIEW ordered AS
SELECT
    qid,
    any_value(blocks) AS blocks,
    any_value(size) AS size,
    coalesce(any_value(stand), any_value(size)) AS members,
    any_value(whole_people) AS whole_people,
    any_value(whole_values) AS whole_values,
    sum(
        met * whole_people * (2 * least(crossing, last_place) - place + 1 - last_place)
        - one * size * (
            2 * CASE WHEN crossing < last_place THEN crossing_summed ELSE last_summed END
            - before_summed - last_summed
        )
        + CASE WHEN met = people THEN one * size * before_summed ELSE 0 END
    )::HUGEINT AS moved
FROM (
    SELECT
        stretches.*,
        greatest(coalesce(crossings.place, 0), stretches.place - 1) AS crossing,
        CASE
            WHEN coalesce(crossings.place, 0) < stretches.place THEN firsts.summed - firsts.up_to
            ELSE crossings.summed
        END AS crossing_summed,
        firsts.summed - firsts.up_to AS before_summed,
        lasts.summed AS last_summed
    FROM stretches
    ASOF LEFT JOIN places AS crossings
        ON stretches.met * stretches.whole_people // stretches.size >= crossings.up_to
    JOIN places AS firsts ON firsts.place = stretches.place
    JOIN places AS lasts ON lasts.place = stretches.last_place
) AS crossed
GROUP BY qid;
