-- In which classes of a release do people lie? A search that cuts space in halves.

-- One row per person: the place of each raw value, the number of the true secret (0: no release has
-- it), the position in the input, the key.
{# coded_people(qids=[1, 2], truth=1, key=1, position=1), coded_people(qids=[1], truth=0, key=0, position=0) #}
CREATE OR REPLACE VIEW coded_people AS
SELECT
    {{ qids | each("places_#.place AS place_#,") }}
    {{ "people.key," if key }}
    {{ "people.position," if position }}
    {{ "coalesce(secret_values.code, 0)" if truth else "0" }} AS truth
FROM people
{% for i in qids %}
INNER JOIN places_{{ i }} ON people.qid_{{ i }} IS NOT DISTINCT FROM places_{{ i }}.value
{% endfor %}
{% if truth %}
LEFT JOIN secret_values ON people.truth IS NOT DISTINCT FROM secret_values.secret
{% endif %};

-- One row per combination of places that people have: a point.
CREATE OR REPLACE VIEW points AS
SELECT
    row_number() OVER () AS point,
    place
FROM (SELECT DISTINCT place FROM coded) AS different;

-- One row per point and true secret of people there: how many people.
CREATE OR REPLACE VIEW crowd AS
SELECT
    points.point,
    coded.truth,
    count(*) AS people
FROM coded INNER JOIN points ON each(coded.place = points.place)
GROUP BY points.point, coded.truth;

-- One row: how many cells of a column stand for members with gaps between them.
CREATE OR REPLACE VIEW gaps AS
SELECT count(*) AS cells
FROM spans
WHERE enumerated;

-- One row: how many boxes there are if the classes are written out along some columns.
{# width(along=[1, 3]), width(along=[]) #}
CREATE OR REPLACE VIEW width AS
SELECT coalesce(sum(1.0::DOUBLE{{ along | each(" * spans_#.width::DOUBLE") }}), 0) AS boxes
FROM classes
{{ along | each("INNER JOIN spans_# ON classes.id_# = spans_#.id") }};

-- One row per box of a class: its place in each column along which classes are written out (`exact`),
-- and where its span begins and ends in each of the others.
{# boxes(exact=[1], spanned=[2, 3]), boxes(exact=[], spanned=[1]), boxes(exact=[1, 2], spanned=[]) #}
CREATE OR REPLACE VIEW boxes AS
SELECT
    {{ exact | each("covered_#.place AS place_#,") }}
    {{ spanned | each("spans_#.low AS low_#, spans_#.least AS least_#, spans_#.high AS high_#,") }}
    classes.class
FROM classes
{{ exact | each("INNER JOIN spans_# ON classes.id_# = spans_#.id AND spans_#.low <= spans_#.high") }}
{{ exact | each("INNER JOIN covered_# ON spans_#.id = covered_#.id") }}
{{ spanned | each("INNER JOIN spans_# ON classes.id_# = spans_#.id AND spans_#.low <= spans_#.high") }};

-- One row per node: a combination of exact places of boxes, under a number.
{# nodes(exact=[1, 2]), nodes(exact=[]) #}
CREATE OR REPLACE VIEW nodes AS
SELECT
    {{ exact | each("place_#,") }}
    row_number() OVER () AS node
FROM (SELECT DISTINCT {{ exact | each("place_#,") }} 0 AS everywhere FROM boxes) AS different;

-- One row per box: the node in which it lies, its class and its spans.
{# node_boxes(exact=[1], spanned=[2, 3]), node_boxes(exact=[], spanned=[1]) #}
CREATE OR REPLACE VIEW node_boxes AS
SELECT
    nodes.node,
    {{ spanned | each("boxes.low_#, boxes.least_#, boxes.high_#,") }}
    boxes.class
FROM boxes
INNER JOIN nodes {{ exact | using("place") }};

-- One row per point in a node: the node, and its places in columns with spans.
{# node_points(exact=[1], spanned=[2, 3]), node_points(exact=[], spanned=[1]) #}
CREATE OR REPLACE VIEW node_points AS
SELECT
    nodes.node,
    {{ spanned | each("points.place_#,") }}
    points.point
FROM points
INNER JOIN nodes {{ exact | using("place") }};

-- One row per node in which points can meet boxes: how many of both.
CREATE OR REPLACE VIEW loads AS
SELECT
    in_points.node,
    in_points.points,
    in_boxes.boxes
FROM (SELECT node, count(*) AS points FROM points GROUP BY node) AS in_points
INNER JOIN (SELECT node, count(*) AS boxes FROM boxes GROUP BY node) AS in_boxes
    ON in_points.node = in_boxes.node;

-- One row per box and column that can be cut: from where to where it reaches.
CREATE OR REPLACE VIEW sides AS
SELECT
    boxes.node,
    unnest([low]) AS low_end,
    unnest([high]) AS high_end,
    generate_subscripts([low], 1) AS side
FROM boxes INNER JOIN loads ON boxes.node = loads.node
WHERE loads.boxes > 8 AND loads.points * loads.boxes > 4096;

-- One row per node that is worth cutting: the column and place behind which it is cut, so that the
-- fewest boxes lie on both sides and the halves are about equal.
CREATE OR REPLACE VIEW cuts AS
SELECT
    node,
    arg_min(side, (cost, side, cut)) AS side,
    arg_min(cut, (cost, side, cut)) AS cut
FROM (
    SELECT
        sides.node,
        sides.side,
        tried.cut,
        count(*) FILTER (sides.low_end <= tried.cut) AS before,
        count(*) FILTER (sides.high_end > tried.cut) AS behind,
        before * before + behind * behind AS cost,
        count(*) * count(*) AS uncut
    FROM sides
    INNER JOIN (
        SELECT DISTINCT
            node,
            side,
            unnest(quantile_disc(high_end, [0.1, 0.3, 0.5, 0.7, 0.9])) AS cut
        FROM sides
        GROUP BY node, side
    ) AS tried ON sides.node = tried.node AND sides.side = tried.side
    GROUP BY sides.node, sides.side, tried.cut
) AS costs
WHERE cost < 0.9 * uncut
GROUP BY node;

-- One row per box in a node that is cut and half in which it lies, or both.
CREATE OR REPLACE VIEW cut_boxes AS
SELECT
    2 * boxes.node + halves.half AS node,
    boxes.class,
    low,
    least,
    high
FROM boxes
INNER JOIN cuts ON boxes.node = cuts.node
INNER JOIN (SELECT unnest([0, 1]) AS half) AS halves
    ON CASE WHEN halves.half = 0 THEN [low][cuts.side] <= cuts.cut ELSE [high][cuts.side] > cuts.cut END;

-- One row per person's values in a node that is cut: the half in which they lie.
CREATE OR REPLACE VIEW cut_points AS
SELECT
    2 * points.node + ([place][cuts.side] > cuts.cut)::INTEGER AS node,
    points.point,
    place
FROM points INNER JOIN cuts ON points.node = cuts.node;

-- One row per person's values in a node that is not cut any more.
CREATE OR REPLACE VIEW uncut AS
SELECT
    points.node,
    points.point,
    place
FROM points ANTI JOIN cuts ON points.node = cuts.node;

-- One row per person's values and class in whose spans they lie, in nodes that are not cut.
CREATE OR REPLACE VIEW met AS
SELECT
    uncut.point,
    boxes.class
FROM uncut
INNER JOIN boxes
    ON uncut.node = boxes.node
        AND each(place BETWEEN low AND high AND (place >= least OR place = 0));

-- No row: no node is cut.
CREATE OR REPLACE VIEW no_cuts AS
SELECT 0::BIGINT AS node
WHERE FALSE;

-- One row per person's values and class in whose spans they lie, of nodes that were cut any number of
-- times.
{# found(depths=2) #}
CREATE OR REPLACE VIEW found AS
SELECT *
FROM (
    {% for depth in range(depths) %}
    {{ "UNION ALL" if depth }} SELECT point, class FROM met_{{ depth }}
    {% endfor %}
) AS pairs;

-- One row per person's values and class in whose spans they lie, where the class's cell of one
-- column has gaps: without those that fall into a gap.
CREATE OR REPLACE VIEW without_gaps AS
SELECT
    found.point,
    found.class
FROM found
INNER JOIN classes ON found.class = classes.class
INNER JOIN spans ON classes.own_id = spans.id
INNER JOIN points ON found.point = points.point
LEFT JOIN members
    ON spans.enumerated AND spans.id = members.id AND members.place = points.own_place
WHERE NOT spans.enumerated OR members.id IS NOT NULL;

-- One row per person's values that lie in no class.
CREATE OR REPLACE VIEW unlocated AS
SELECT
    points.point,
    place
FROM points ANTI JOIN found ON points.point = found.point;

-- One row per person's values in no class and class: the sum of the squared distances in all columns.
{# apart(qids=[1, 2]) #}
CREATE OR REPLACE VIEW apart AS
SELECT
    unlocated.point,
    classes.class,
    {{ qids | each("distances_#.squares[(unlocated.place_# - distances_#.first_place) * distances_#.cells + classes.id_#]", " + ") }} AS square
FROM unlocated
CROSS JOIN classes
{{ qids | each("CROSS JOIN distances_#") }};

-- One row per person's values in no class: the squared distance of the nearest class.
CREATE OR REPLACE VIEW nearest_squares AS
SELECT
    point,
    min(square) AS square
FROM apart
GROUP BY point;

-- One row per person's values in no class and nearest class; there are several if they are equally near.
CREATE OR REPLACE VIEW nearest AS
SELECT
    apart.point,
    apart.class
FROM apart
INNER JOIN nearest_squares ON apart.point = nearest_squares.point AND apart.square = nearest_squares.square;

-- One row per cell and place that it covers.
CREATE OR REPLACE VIEW covered AS
SELECT
    spans.id,
    unnest(CASE
        WHEN spans.enumerated THEN members.places
        ELSE list_concat(
            CASE WHEN spans.low = 0 AND spans.least > 0 THEN [0] ELSE [] END,
            range(spans.least, spans.high + 1)
        )
    END)::INTEGER AS place
FROM spans
LEFT JOIN (
    SELECT
        id,
        list(place) AS places
    FROM members
    GROUP BY id
) AS members ON spans.id = members.id AND spans.enumerated;

-- One row per record of a release: its key, its secrets, and the number of each cell, 0 if it may be
-- any value: a cell that stands for all of them, an empty one if the release has more of them than the
-- original, or a usual word for a missing value that is none of the original.
{# coded_records(qids=[1, 2], secrets=1), coded_records(qids=[1], secrets=0) #}
CREATE OR REPLACE VIEW coded_records AS
SELECT
    {{ range(1, secrets + 1) | each("records.secret_#,") }}
    {% for i in qids %}
    CASE
        WHEN spans_{{ i }}.everything THEN 0
        WHEN cells_{{ i }}.cell IS NULL
            THEN CASE WHEN empty_{{ i }}.records > empty_{{ i }}.people THEN 0 ELSE spans_{{ i }}.id END
        WHEN spans_{{ i }}.width > 0 OR cells_{{ i }}.cell::VARCHAR NOT IN (SELECT word FROM missing_words)
            THEN spans_{{ i }}.id
        ELSE 0
    END AS id_{{ i }},
    {% endfor %}
    records.key
FROM records
{% for i in qids %}
INNER JOIN cells_{{ i }} ON records.cell_{{ i }} IS NOT DISTINCT FROM cells_{{ i }}.cell
INNER JOIN spans_{{ i }} ON cells_{{ i }}.id = spans_{{ i }}.id
CROSS JOIN (
    SELECT
        (SELECT count(*) FROM records WHERE cell_{{ i }} IS NULL) AS records,
        (SELECT coalesce(sum(people), 0) FROM places_{{ i }} WHERE place = 0) AS people
) AS empty_{{ i }}
{% endfor %};

-- One row per class of these records: its number, its cells, and how many records have them.
{# classes_of_records(qids=[1, 2]) #}
CREATE OR REPLACE VIEW classes_of_records AS
SELECT
    row_number() OVER () AS class,
    {{ qids | each("id_#,") }}
    count(*) AS records
FROM coded_records
GROUP BY {{ qids | each("id_#", ", ") }};

-- One row: how many classes have a cell that contains no value of people, as that of a mean may.
{# classes_outside(qids=[1, 2]), classes_outside(qids=[1]) #}
CREATE OR REPLACE VIEW classes_outside AS
SELECT count(*) AS outside
FROM classes
{{ qids | each("LEFT JOIN spans_# ON classes.id_# = spans_#.id") }}
WHERE {{ qids | each("(spans_#.id IS NOT NULL AND coalesce(spans_#.width, 0) = 0)", " OR ") }};

-- One row per record of a release: its class, its key, its secrets.
{# owners(qids=[1, 2], secrets=1), owners(qids=[1], secrets=0) #}
CREATE OR REPLACE VIEW owners AS
SELECT
    {{ range(1, secrets + 1) | each("coded_records.secret_#,") }}
    classes.class,
    coded_records.key
FROM coded_records
INNER JOIN classes {{ qids | using("id") }};

-- One row per person of a release: her key (NULL: a record without a key is a person of its own), the
-- classes of her records, and the values of each secret in them, in order.
{# persons(secrets=1), persons(secrets=0) #}
CREATE OR REPLACE VIEW persons AS
SELECT
    {{ range(1, secrets + 1) | each("list_sort(list(secret_#)) AS secret_#,") }}
    list_sort(list(DISTINCT class)) AS classes,
    key
FROM (
    SELECT
        *,
        CASE WHEN key IS NULL THEN row_number() OVER () END AS alone
    FROM owners
) AS numbered
GROUP BY key, alone;

-- One row per set of classes that people have records in: its number, and how many people.
CREATE OR REPLACE VIEW sets AS
SELECT
    row_number() OVER () AS class,
    classes,
    count(*) AS records
FROM persons
GROUP BY classes;

-- One row per person of a release: the number of her set of classes, her key, her secrets.
{# owners_of_sets(secrets=1), owners_of_sets(secrets=0) #}
CREATE OR REPLACE VIEW owners_of_sets AS
SELECT
    {{ range(1, secrets + 1) | each("persons.secret_#,") }}
    sets.class,
    persons.key
FROM persons
INNER JOIN sets ON persons.classes = sets.classes;

-- One row per point and set of classes of which some class contains its values.
CREATE OR REPLACE VIEW found_sets AS
SELECT DISTINCT
    found.point,
    sets.class
FROM found
INNER JOIN (
    SELECT
        class,
        unnest(classes) AS one_class
    FROM sets
) AS sets ON found.class = sets.one_class;

-- One row per class and value of a secret there: how many records have it.
CREATE OR REPLACE VIEW class_values AS
SELECT
    class,
    secret AS value,
    count(*) AS records
FROM owners
GROUP BY class, secret;

-- One row per set of columns in which a class may have any value: whether it may, by column.
{# open_columns(qids=[1, 2]) #}
CREATE OR REPLACE VIEW open_columns AS
SELECT DISTINCT {{ qids | each("id_# = 0 AS open_#", ", ") }}
FROM classes;

-- One row per class that may have any value in the columns `free`, and in no other.
{# classes_free_in(free=[2], fixed=[1]), classes_free_in(free=[], fixed=[1, 2]) #}
CREATE OR REPLACE VIEW classes_free_in AS
SELECT *
FROM classes
WHERE TRUE {{ free | each("AND id_# = 0") }} {{ fixed | each("AND id_# <> 0") }};

-- One row per point and class that may have any value in every column.
CREATE OR REPLACE VIEW found_everywhere AS
SELECT
    points.point,
    classes.class
FROM points CROSS JOIN classes;

-- One row per record of people: its point, its key.
CREATE OR REPLACE VIEW located AS
SELECT
    points.point,
    coded.key
FROM coded INNER JOIN points ON each(coded.place = points.place);

-- One row per point: how many records of people are there.
CREATE OR REPLACE VIEW crowd_of_people AS
SELECT
    point,
    count(*) AS people
FROM located
GROUP BY point;

-- One row per point: how many records may be those of people there.
CREATE OR REPLACE VIEW sizes AS
SELECT
    points.point,
    coalesce(sum(classes.records), 0)::BIGINT AS candidates
FROM points
LEFT JOIN found ON points.point = found.point
LEFT JOIN classes ON found.class = classes.class
GROUP BY points.point;

-- One row per point and class of a record there whose own record is in the class, which contains it.
CREATE OR REPLACE VIEW fitting AS
SELECT
    found.point,
    found.class
FROM found
INNER JOIN (
    SELECT DISTINCT
        located.point,
        owners.class
    FROM located INNER JOIN owners ON located.key = owners.key
) AS own ON found.point = own.point AND found.class = own.class;

-- One row per point where one record may be a person's.
CREATE OR REPLACE VIEW alone AS
SELECT point
FROM sizes
WHERE candidates = 1;

-- One row per number of records that may be a person's: how many people have so many, how many of them
-- have an own record in the release, and of how many it is among these.
CREATE OR REPLACE VIEW candidates AS
SELECT
    sizes.candidates,
    count(*) AS people,
    count(owners.class) AS present,
    count(fitting.class) AS fitting
FROM located
INNER JOIN sizes ON located.point = sizes.point
LEFT JOIN owners ON located.key = owners.key
LEFT JOIN fitting ON located.point = fitting.point AND owners.class = fitting.class
GROUP BY sizes.candidates;

-- One row: how many people have a record whose own record is not among those that may be theirs.
CREATE OR REPLACE VIEW misled AS
SELECT count(DISTINCT located.key) AS people
FROM located
INNER JOIN owners ON located.key = owners.key
ANTI JOIN fitting ON located.point = fitting.point AND owners.class = fitting.class;

-- One row: how many people have a record at one of the chosen points.
CREATE OR REPLACE VIEW people_among AS
SELECT count(DISTINCT located.key) + count(*) FILTER (WHERE located.key IS NULL) AS people
FROM located SEMI JOIN chosen ON located.point = chosen.point;

-- One row per point where some record may be a person's: how many, how many of them have their most
-- frequent secret, and how many different secrets they have.
CREATE OR REPLACE VIEW guessed AS
SELECT
    point,
    sum(records)::BIGINT AS candidates,
    max(records)::BIGINT AS best,
    count(*) AS "values"
FROM (
    SELECT
        found.point,
        class_values.value,
        sum(class_values.records) AS records
    FROM found INNER JOIN class_values ON found.class = class_values.class
    GROUP BY found.point, class_values.value
) AS mixed
GROUP BY point;

-- One row per point where all records that may be a person's have one secret.
CREATE OR REPLACE VIEW sure AS
SELECT point
FROM guessed
WHERE "values" = 1;

-- One row per number of records that may be a person's, number of those with the most frequent secret
-- among them, and number of different secrets: how many people.
CREATE OR REPLACE VIEW candidate_secrets AS
SELECT
    guessed.candidates,
    guessed.best,
    guessed."values",
    sum(crowd.people)::BIGINT AS people
FROM guessed
INNER JOIN crowd_of_people AS crowd ON guessed.point = crowd.point
GROUP BY guessed.candidates, guessed.best, guessed."values";

-- One row: how many records a release has, how many have the most frequent secret, how many secrets.
CREATE OR REPLACE VIEW secrets_at_first AS
SELECT
    sum(records)::BIGINT AS candidates,
    max(records)::BIGINT AS best,
    count(*) AS "values"
FROM (
    SELECT
        value,
        sum(records) AS records
    FROM class_values
    GROUP BY value
) AS mixed;
