-- What a release has lost of the original, and lots and states of changed ones.

-- One row per place of the original's numbers: its position, and the records up to it and before it.
CREATE OR REPLACE VIEW reached AS
SELECT
    places.place,
    positions.position,
    sum(places.people) OVER (ORDER BY places.place)::BIGINT AS through,
    (sum(places.people) OVER (ORDER BY places.place) - places.people)::BIGINT AS before
FROM places
INNER JOIN positions ON places.place = positions.place
WHERE places.place > 0 AND isfinite(positions.position);

-- One row per cell that is one number or date of the original, or a number between them: the records
-- of the smallest class that has it, and of the original; the place of the last value that is not
-- above it, the records up to it, and those up to the first that is not below it.
CREATE OR REPLACE VIEW standing AS
SELECT
    single.id,
    single.records,
    below.place,
    below.through AS up_to,
    above.through AS up_to_next,
    CASE WHEN below.place = above.place THEN below.through - below.before ELSE 0 END AS people
FROM (
    SELECT
        cells.id,
        held.smallest AS records,
        coalesce(own.position, TRY_CAST(cells.cell::VARCHAR AS DOUBLE)) AS position
    FROM cells
    INNER JOIN held ON cells.cell IS NOT DISTINCT FROM held.cell
    INNER JOIN spans ON cells.id = spans.id
    LEFT JOIN positions AS own ON spans.width = 1 AND spans.high = own.place
    WHERE NOT spans.everything
        AND (
            TRY_CAST(cells.cell::VARCHAR AS DOUBLE) IS NOT NULL
            OR TRY_CAST(cells.cell::VARCHAR AS TIMESTAMP) IS NOT NULL
        )
        AND coalesce(spans.width, 0) < 2
        AND cells.cell::VARCHAR NOT IN (SELECT word FROM missing_words)
) AS single
ASOF INNER JOIN reached AS below ON single.position >= below.position
ASOF INNER JOIN reached AS above ON single.position <= above.position;

-- One row: how many records have a number between those of the original, and how many one that
-- represents others: a class has more records with it than all of the original.
CREATE OR REPLACE VIEW represented AS
SELECT
    coalesce(sum(held.records) FILTER (WHERE standing.people = 0), 0)::BIGINT AS "between",
    coalesce(sum(held.records) FILTER (WHERE standing.records > standing.people), 0)::BIGINT
        AS records
FROM standing
INNER JOIN cells ON standing.id = cells.id
INNER JOIN held ON cells.cell IS NOT DISTINCT FROM held.cell;

-- One row per cell: its span, that of a number in a column of representatives is the shortest stretch
-- of the original's numbers around it with as many records as its smallest class, or all of them.
CREATE OR REPLACE VIEW stretched AS
SELECT
    spans.id,
    CASE WHEN standing.id IS NULL THEN spans.low ELSE coalesce(shortest.ends[2], 1)::INTEGER END AS low,
    CASE WHEN standing.id IS NULL THEN spans.least ELSE coalesce(shortest.ends[2], 1)::INTEGER END AS least,
    CASE WHEN standing.id IS NULL THEN spans.high ELSE coalesce(shortest.ends[3], every.high)::INTEGER END AS high,
    CASE
        WHEN standing.id IS NULL THEN spans.width
        ELSE coalesce(shortest.ends[3], every.high) - coalesce(shortest.ends[2], 1) + 1
    END::BIGINT AS width,
    spans.enumerated AND standing.id IS NULL AS enumerated,
    spans.everything
FROM spans
CROSS JOIN (SELECT max(place) AS high FROM reached) AS every
LEFT JOIN standing ON spans.id = standing.id
LEFT JOIN (
    SELECT
        begun.id,
        min([ends.position - begun.position, begun.place, ends.place]) AS ends
    FROM (
        SELECT
            standing.id,
            starts.place,
            starts.position,
            greatest(starts.before + standing.records, standing.up_to_next) AS needed
        FROM standing
        INNER JOIN reached AS starts
            ON starts.place <= standing.place
                AND starts.through > standing.up_to - standing.records
    ) AS begun
    ASOF INNER JOIN reached AS ends ON begun.needed <= ends.through
    GROUP BY begun.id
) AS shortest ON spans.id = shortest.id;

-- One row per different cell of a column of a release, and one for those of its records that lost
-- their value: their number, and the span of the cell, which is everything for these. A cell is lost
-- that no value of the original equals, and that is empty or a usual word for a missing value; of
-- empty cells that the original has too, as many are lost as it has fewer of them.
CREATE OR REPLACE VIEW told AS
SELECT
    counted.id,
    CASE WHEN part.lost THEN counted.lost ELSE counted.records - counted.lost END AS records,
    part.lost OR counted.everything AS everything,
    counted.enumerated AND NOT part.lost AS enumerated,
    CASE WHEN part.lost THEN 0 ELSE counted.low END AS low,
    CASE WHEN part.lost THEN 0 ELSE counted.least END AS least,
    CASE WHEN part.lost THEN every.high ELSE counted.high END AS high,
    CASE WHEN part.lost THEN every.width ELSE counted.width END AS width
FROM (
    SELECT
        spans.*,
        held.records,
        CASE
            WHEN spans.everything THEN 0
            WHEN cells.cell::VARCHAR NOT IN (SELECT word FROM missing_words) THEN 0
            WHEN coalesce(spans.width, 0) = 0 THEN held.records
            WHEN spans.high = 0
                THEN greatest(0, held.records - (SELECT sum(people) FROM places WHERE place = 0))
            ELSE 0
        END::BIGINT AS lost
    FROM cells
    INNER JOIN held ON cells.cell IS NOT DISTINCT FROM held.cell
    INNER JOIN spans ON cells.id = spans.id
) AS counted
CROSS JOIN (VALUES (FALSE), (TRUE)) AS part (lost)
CROSS JOIN (
    SELECT
        max(place) AS high,
        count(*) AS width
    FROM places
) AS every
WHERE CASE WHEN part.lost THEN counted.lost > 0 ELSE counted.records > counted.lost END;

-- One row per different cell of a column of a release: its records, how many of the original's
-- values it contains, the missing one too, and, where values have positions, those of the first and
-- the last. A cell that is enumerated contains its members only.
CREATE OR REPLACE VIEW contained AS
SELECT
    told.id,
    told.records,
    told.everything,
    told.enumerated,
    greatest(told.least, 1) AS first,
    told.high AS last,
    NOT told.enumerated AND coalesce(told.low = 0, FALSE) AND absent.there AS missing,
    CASE
        WHEN told.enumerated THEN told.width
        ELSE greatest(0, told.high - greatest(told.least, 1) + 1)
            + (coalesce(told.low = 0, FALSE) AND absent.there)::INTEGER
    END::BIGINT AS width,
    lowest.position AS lower,
    highest.position AS upper
FROM told
CROSS JOIN (SELECT coalesce(bool_or(place = 0), FALSE) AS there FROM places) AS absent
LEFT JOIN (
    SELECT
        id,
        min(place) AS place
    FROM members
    WHERE place > 0
    GROUP BY id
) AS listed ON told.id = listed.id AND told.enumerated
LEFT JOIN positions AS lowest
    ON lowest.place = CASE WHEN told.enumerated THEN listed.place ELSE greatest(told.least, 1) END
        AND told.high >= lowest.place
LEFT JOIN positions AS highest ON told.high = highest.place AND told.high > 0;

-- One row per different cell of a column of which every record is suppressed, or lost its value.
CREATE OR REPLACE VIEW withheld AS
SELECT cells.cell
FROM cells
INNER JOIN told ON cells.id = told.id
GROUP BY cells.id, cells.cell
HAVING bool_and(told.everything);

-- One row: how many records have a cell of one column that contains several values of the original,
-- none, or everything; and what is lost by cells that are not suppressed: the values that cells of
-- several contain, and how far these are apart, in units, each as often as it has records.
CREATE OR REPLACE VIEW lost AS
SELECT
    coalesce(sum(records), 0)::BIGINT AS records,
    coalesce(sum(records) FILTER (WHERE width > 1 OR everything), 0)::BIGINT AS generalised,
    coalesce(sum(records) FILTER (WHERE width = 0), 0)::BIGINT AS outside,
    coalesce(sum(records) FILTER (WHERE everything), 0)::BIGINT AS suppressed,
    coalesce(sum(records::HUGEINT * width) FILTER (WHERE width > 1 AND NOT everything), 0)::HUGEINT
        AS listed,
    coalesce(sum(records::HUGEINT * CASE
        WHEN isfinite(upper - lower) THEN round((upper - lower) * units.unit)::HUGEINT
        ELSE units.whole
    END) FILTER (WHERE width > 1 AND lower < upper AND NOT everything), 0)::HUGEINT AS spanned
FROM contained
CROSS JOIN units;

-- One row per value of a secret: its number in their order, missing if the value is.
CREATE OR REPLACE VIEW secret_codes AS
SELECT
    secret AS value,
    CASE WHEN secret IS NOT NULL THEN dense_rank() OVER (ORDER BY secret ASC NULLS LAST)::INTEGER END AS code
FROM (SELECT DISTINCT secret FROM original) AS different;

-- One row per record of the original: the number of each quasi-identifier in each of its states, of which
-- it has so many, missing if it is suppressed there; the numbers of the secrets, and the person.
{# coded_states(states=[2, 1], secrets=[1, 2], person=False), coded_states(states=[1], secrets=[], person=True) #}
CREATE OR REPLACE VIEW coded_states AS
SELECT
    {% for count in states %}
    {% set j = loop.index %}
    {% for i in range(count) %}
    CASE WHEN NOT codes_{{ j }}.hidden_{{ i }} THEN codes_{{ j }}.state_{{ i }} END AS state_{{ j }}_{{ i }},
    {% endfor %}
    {% endfor %}
    {{ secrets | each("secret_codes_#.code AS secret_#,") }}
    {{ "original.person," if person }}
FROM original
{% for count in states %}
INNER JOIN codes_{{ loop.index }} ON original.qid_{{ loop.index }} IS NOT DISTINCT FROM codes_{{ loop.index }}.value
{% endfor %}
{{ secrets | each("INNER JOIN secret_codes_# ON original.secret_# IS NOT DISTINCT FROM secret_codes_#.value") }};

-- One row per record, by the numbers of its values: the lot that it draws, which depends on these and
-- on the seed. Records that are alike draw in turn, each a lot of its own, so that their order does not
-- matter.
{# lots(qids=[1, 2], secrets=[1]), lots(qids=[1], secrets=[]) #}
CREATE OR REPLACE VIEW lots AS
SELECT
    *,
    md5(concat(wanted_seed, '|', own, '|', row_number() OVER (PARTITION BY own))) AS lot
FROM (
    SELECT
        *,
        concat({{ qids | each("state_#_0, ','", ", ") }}{{ secrets | each(", secret_#, ','") }}) AS own
    FROM coded_states
) AS joined;

-- One row per value of a coarser column: its records, how many values of the original it merges,
-- and the positions of the first and the last of them.
CREATE OR REPLACE VIEW merged AS
SELECT
    sum(people)::BIGINT AS records,
    count(*)::BIGINT AS width,
    FALSE AS everything,
    min(position) AS lower,
    max(position) AS upper
FROM states
GROUP BY state;

-- One row per different cell that contains values of the original: the mass that each of them gets,
-- in parts of a record.
CREATE OR REPLACE VIEW shares AS
SELECT
    contained.id,
    contained.enumerated,
    contained.first,
    contained.last,
    contained.missing,
    (contained.records::HUGEINT * units.parts) // contained.width AS share
FROM contained
CROSS JOIN units
WHERE contained.width > 0;

-- One row per pair of masses that values of the original have: their records there (people), and
-- those of the release when every cell spreads its own evenly over the values that it contains, in
-- parts; how many values have just these.
CREATE OR REPLACE VIEW masses AS
SELECT
    people,
    mass,
    count(*)::BIGINT AS "values"
FROM (
    SELECT
        places.people,
        (coalesce(direct.mass, 0) + CASE WHEN places.place > 0 THEN coalesce(
            sum(edges.mass) OVER (ORDER BY places.place ROWS UNBOUNDED PRECEDING), 0
        ) ELSE 0 END)::HUGEINT AS mass
    FROM places
    LEFT JOIN (
        SELECT
            place,
            sum(share)::HUGEINT AS mass
        FROM (
            SELECT
                members.place,
                shares.share
            FROM shares
            INNER JOIN members ON shares.id = members.id
            WHERE shares.enumerated
            UNION ALL
            SELECT
                0 AS place,
                share
            FROM shares
            WHERE missing
        ) AS pieces
        GROUP BY place
    ) AS direct ON places.place = direct.place
    LEFT JOIN (
        SELECT
            place,
            sum(share)::HUGEINT AS mass
        FROM (
            SELECT
                first AS place,
                share
            FROM shares
            WHERE NOT enumerated AND last >= first
            UNION ALL
            SELECT
                last + 1 AS place,
                -share AS share
            FROM shares
            WHERE NOT enumerated AND last >= first
        ) AS pieces
        GROUP BY place
    ) AS edges ON places.place = edges.place
) AS weighed
GROUP BY people, mass;

-- One row: how many values of a finer column fall into several of a coarser one.
CREATE OR REPLACE VIEW splits AS
SELECT count(*)::BIGINT AS "values"
FROM (
    SELECT finer
    FROM steps
    GROUP BY finer
    HAVING count(DISTINCT coarser) > 1
) AS split;


-- One row per combination of the cells of some columns of a file: their numbers, and the records.
{# combined_cells(columns=[1, 2]) #}
CREATE OR REPLACE VIEW combined_cells AS
SELECT
    {{ columns | each("cells_#.id AS code_#,") }}
    sum(alike.records)::BIGINT AS records
FROM alike
{{ columns | each("INNER JOIN cells_# ON alike.cell_# IS NOT DISTINCT FROM cells_#.cell") }}
GROUP BY {{ columns | each("cells_#.id", ", ") }};

-- One row per cell of a column, with its span, which is everything where any of its records lost
-- their value: which of them did is not known.
CREATE OR REPLACE VIEW vague_spans AS
SELECT
    spans.id,
    CASE WHEN vague.id IS NULL THEN spans.low ELSE 0 END AS low,
    CASE WHEN vague.id IS NULL THEN spans.least ELSE 0 END AS least,
    CASE WHEN vague.id IS NULL THEN spans.high ELSE every.high END AS high,
    spans.enumerated AND vague.id IS NULL AS enumerated,
    vague.id IS NOT NULL AS everything
FROM spans
CROSS JOIN (SELECT max(place) AS high FROM places) AS every
LEFT JOIN (SELECT DISTINCT id FROM told WHERE everything) AS vague ON spans.id = vague.id;

-- One row per cell of a column and value of the original that it contains.
CREATE OR REPLACE VIEW contents AS
SELECT
    covered.id AS code,
    places.place
FROM covered
INNER JOIN places ON covered.place = places.place;

-- One row per cell of a column: whether it stands for everything, how many values of the original it
-- contains, the place of the first, and the number that it is read as: its own, if it is one, else
-- the middle between the smallest and the largest number in it; NULL without a number.
CREATE OR REPLACE VIEW readings AS
SELECT
    cells.id AS code,
    vague_spans.everything,
    coalesce(content.width, 0)::BIGINT AS width,
    content.place,
    CASE WHEN NOT vague_spans.everything THEN coalesce(
        CASE WHEN is_written = 1 THEN TRY_CAST(cells.cell::VARCHAR AS DOUBLE) END,
        content.least + (content.greatest - content.least) / 2
    ) END AS position
FROM cells
INNER JOIN vague_spans ON cells.id = vague_spans.id
LEFT JOIN (
    SELECT
        contents.code,
        count(*) AS width,
        min(contents.place) AS place,
        min(numbers.position) AS least,
        max(numbers.position) AS greatest
    FROM contents
    INNER JOIN numbers ON contents.place = numbers.place
    GROUP BY contents.code
) AS content ON cells.id = content.code;

-- One row per value of the original, read as a cell of its own.
CREATE OR REPLACE VIEW own_readings AS
SELECT
    place AS code,
    FALSE AS everything,
    1::BIGINT AS width,
    place,
    position
FROM numbers;

-- One row: the number 0 of a column and how many units make 1, so that numbers are whole: halves of
-- whole numbers, or 2^-41 of the range of the original's numbers.
CREATE OR REPLACE VIEW grid AS
SELECT
    coalesce(least, 0) AS zero,
    CASE
        WHEN has_whole_numbers AND greatest - least <= 1099511627776 THEN 2
        WHEN greatest > least AND isfinite(greatest - least) THEN 2199023255552 / (greatest - least)
        ELSE 2
    END::DOUBLE AS unit
FROM (
    SELECT
        min(position) AS least,
        max(position) AS greatest,
        bool_and(position = floor(position)) AS has_whole_numbers
    FROM numbers
    WHERE isfinite(position)
) AS ends;

-- One row per cell that is read as a number: the number in units. Numbers that are 1,000 times as far
-- away as the original's numbers are from each other are left out.
CREATE OR REPLACE VIEW whole_numbers AS
SELECT
    readings.code,
    round((readings.position - grid.zero) * grid.unit)::BIGINT AS number
FROM readings
CROSS JOIN grid
WHERE isfinite(readings.position)
    AND abs((readings.position - grid.zero) * grid.unit) < 2251799813685248;

-- One row per pair of cells of two columns that occur together: their records.
CREATE OR REPLACE VIEW pairs AS
SELECT
    first_code AS "first",
    second_code AS "second",
    sum(records)::BIGINT AS records
FROM combined_cells
GROUP BY first_code, second_code;

-- One row per pair of values, counted by records: those of the pair, of its first and of its second
-- value; how many pairs. Records may be in parts.
CREATE OR REPLACE VIEW associated AS
SELECT
    records,
    firsts,
    seconds,
    count(*)::BIGINT AS pairs
FROM (
    SELECT
        records,
        sum(records) OVER (PARTITION BY "first")::HUGEINT AS firsts,
        sum(records) OVER (PARTITION BY "second")::HUGEINT AS seconds
    FROM pairs_of_values
) AS totals
GROUP BY records, firsts, seconds;

-- One row: the records of all pairs of values, and how many different values both columns have there.
CREATE OR REPLACE VIEW sizes_of_pairs AS
SELECT
    coalesce(sum(records), 0)::HUGEINT AS records,
    count(DISTINCT "first") AS firsts,
    count(DISTINCT "second") AS seconds
FROM pairs_of_values;

-- One row: the records of pairs of cells that contain values of the original, but not everything.
CREATE OR REPLACE VIEW definite_records AS
SELECT coalesce(sum(pairs.records), 0)::BIGINT AS records
FROM pairs
INNER JOIN first_readings ON pairs."first" = first_readings.code
INNER JOIN second_readings ON pairs."second" = second_readings.code
WHERE NOT first_readings.everything AND NOT second_readings.everything
    AND first_readings.width > 0 AND second_readings.width > 0;

-- One row: the records in which both cells are read as numbers, and sums of these, in units.
CREATE OR REPLACE VIEW moments AS
SELECT
    coalesce(sum(pairs.records), 0)::BIGINT AS records,
    coalesce(sum(pairs.records::HUGEINT * first_numbers.number), 0)::HUGEINT AS x,
    coalesce(sum(pairs.records::HUGEINT * second_numbers.number), 0)::HUGEINT AS y,
    coalesce(sum(pairs.records::HUGEINT * first_numbers.number * first_numbers.number), 0)::HUGEINT AS xx,
    coalesce(sum(pairs.records::HUGEINT * second_numbers.number * second_numbers.number), 0)::HUGEINT AS yy,
    coalesce(sum(pairs.records::HUGEINT * first_numbers.number * second_numbers.number), 0)::HUGEINT AS xy
FROM pairs
INNER JOIN first_numbers ON pairs."first" = first_numbers.code
INNER JOIN second_numbers ON pairs."second" = second_numbers.code;

-- One row per number of pairs of values that a pair of cells contains: how many pairs of cells.
CREATE OR REPLACE VIEW areas AS
SELECT
    first_readings.width * second_readings.width AS area,
    count(*)::BIGINT AS pairs
FROM pairs
INNER JOIN first_readings ON pairs."first" = first_readings.code
INNER JOIN second_readings ON pairs."second" = second_readings.code
WHERE first_readings.width * second_readings.width > 0
GROUP BY area;

-- One row per pair of values that pairs of cells contain: the mass, in parts of a record, if each pair
-- of cells spreads its records evenly over the pairs of values in it; and that of cells that do not
-- stand for everything.
CREATE OR REPLACE VIEW spread AS
SELECT
    first_contents.place AS "first",
    second_contents.place AS "second",
    sum(shares.share)::HUGEINT AS mass,
    coalesce(sum(shares.share) FILTER (WHERE shares.definite), 0)::HUGEINT AS definite
FROM (
    SELECT
        pairs."first",
        pairs."second",
        pairs.records::HUGEINT * units.parts // (first_readings.width * second_readings.width)
            AS share,
        NOT first_readings.everything AND NOT second_readings.everything AS definite
    FROM pairs
    INNER JOIN first_readings ON pairs."first" = first_readings.code
    INNER JOIN second_readings ON pairs."second" = second_readings.code
    CROSS JOIN units
    WHERE first_readings.width > 0 AND second_readings.width > 0
) AS shares
INNER JOIN first_contents ON shares."first" = first_contents.code
INNER JOIN second_contents ON shares."second" = second_contents.code
GROUP BY first_contents.place, second_contents.place;

-- One row per pair of values that cells contain which do not stand for everything: the mass of these.
CREATE OR REPLACE VIEW definite_pairs AS
SELECT
    "first",
    "second",
    definite AS records
FROM spread
WHERE definite > 0;

-- One row per pair of masses that pairs of values have: their records in the original (people), and
-- those of the release, in parts; how many pairs of values have just these.
CREATE OR REPLACE VIEW masses_of_pairs AS
SELECT
    people,
    mass,
    count(*)::BIGINT AS "values"
FROM (
    SELECT
        coalesce(original_pairs.records, 0)::BIGINT AS people,
        coalesce(spread.mass, 0)::HUGEINT AS mass
    FROM original_pairs
    FULL JOIN spread
        ON original_pairs."first" = spread."first" AND original_pairs."second" = spread."second"
) AS weighed
GROUP BY people, mass;

-- One row per cell of a column that is read as a number.
CREATE OR REPLACE VIEW read_numbers AS
SELECT
    code,
    position AS x
FROM readings
WHERE isfinite(position);

-- One row per cell of a column that is read as a category: the place of its only value; a cell with
-- several values, or with none of the original, is a category of its own, below 0.
CREATE OR REPLACE VIEW read_categories AS
SELECT
    code,
    CASE WHEN width = 1 THEN place ELSE -code END::BIGINT AS x
FROM readings
WHERE NOT everything AND (width != 1 OR place > 0);

-- One row per cell of an outcome of two values: 1 for the second of them.
CREATE OR REPLACE VIEW read_answers AS
SELECT
    code,
    (x = 2)::BIGINT AS number
FROM categories
WHERE x IN (1, 2);

-- One row per combination of what predictors are read as: the records in which nothing is missing, the
-- sum of their outcomes, in units, and that of the squares of these.
{# modelled(predictors=[1, 2]) #}
CREATE OR REPLACE VIEW modelled AS
SELECT
    {{ predictors | each("predictor_#.x AS x_#,") }}
    sum(combined_cells.records)::BIGINT AS records,
    sum(combined_cells.records::HUGEINT * outcome.number)::HUGEINT AS total,
    sum(combined_cells.records::HUGEINT * outcome.number * outcome.number)::HUGEINT AS squares
FROM combined_cells
INNER JOIN outcome ON combined_cells.outcome_code = outcome.code
{{ predictors | each("INNER JOIN predictor_# ON combined_cells.code_# = predictor_#.code") }}
GROUP BY {{ predictors | each("predictor_#.x", ", ") }}
ORDER BY {{ predictors | each("predictor_#.x", ", ") }};

-- One row per column, with and without a quasi-identifier that is known: how many records there are,
-- how many values it has in them, and what the records and those with the most frequent value of the
-- column among those with the same value of the quasi-identifier weigh.
{# best_guesses(columns=2, weighted=0), best_guesses(columns=1, weighted=1) #}
CREATE OR REPLACE VIEW best_guesses AS
SELECT
    number,
    known,
    sum(records)::BIGINT AS records,
    count(*) AS "values",
    sum(weight)::HUGEINT AS weight,
    sum(mode)::HUGEINT AS mode
FROM (
    SELECT
        number,
        known,
        sum(records) AS records,
        sum(weight) AS weight,
        max(weight) AS mode
    FROM (
        SELECT
            qid_1,
            grouping(qid_1) = 0 AS known,
            CASE {{ range(1, columns + 1) | each("WHEN grouping(secret_#) = 0 THEN #") }} END AS number,
            count(*) AS records,
            {{ "sum(weight)" if weighted else "count(*)" }} AS weight
        FROM microdata
        GROUP BY GROUPING SETS (
            {{ range(1, columns + 1) | each("(qid_1, secret_#), (secret_#)", ", ") }}
        )
    ) AS cells
    GROUP BY number, known, qid_1
) AS classes
GROUP BY number, known;
