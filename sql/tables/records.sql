-- The records behind published tables, and the values and combinations of their dimensions: values get
-- codes, from 1 in their order, in a table for each attribute. Microdata releases as tables: records
-- counted by cells, and the values in each cell. A column of a release has a number, and so has each
-- different cell of it.

-- One row per combination of attributes that records have: how many people.
{# record_counts(edge=[1, 3]) #}
CREATE OR REPLACE VIEW record_counts AS
SELECT {{ edge | each("qid_# AS value_#,") }} count(*) AS people
FROM microdata
GROUP BY ALL;

-- One row: how many people an adversary with all records gets right: the largest value of the secret in
-- each block, or one person of each block.
{# records_right(knowledge=[1], has_secret=True), records_right(knowledge=[1], has_secret=False) #}
CREATE OR REPLACE VIEW records_right AS
SELECT {{ "sum(largest)" if has_secret else "count(*)" }} AS people
FROM (
    SELECT {{ knowledge | each("place_#,") }} max(people) AS largest
    FROM truth
    GROUP BY ALL
) AS blocks;

-- One row per value of an attribute in some tables, and its code.
{# listed_values(attribute=2, relations=2) #}
CREATE OR REPLACE VIEW listed_values AS
SELECT value, row_number() OVER (ORDER BY value NULLS LAST) AS code
FROM (
    {% for n in range(relations) %}
    {{ "UNION" if n }} SELECT DISTINCT value_{{ attribute }} AS value FROM relation_{{ n }}
    {% endfor %}
) AS every_value;

-- One row per combination of values: their codes, and the people.
{# coded_people(edge=[1, 3]), coded_people(edge=[]) #}
CREATE OR REPLACE VIEW coded_people AS
SELECT {{ edge | each("values_#.code AS place_#,") }} raw.people
FROM raw
{{ edge | each("INNER JOIN values_# ON raw.value_# IS NOT DISTINCT FROM values_#.value") }};

-- One row per combination of fewer attributes: the people.
{# added_people(edge=[1, 3]), added_people(edge=[]) #}
CREATE OR REPLACE VIEW added_people AS
SELECT {{ edge | each("place_#,") }} sum(people)::BIGINT AS people
FROM finer
GROUP BY ALL;

-- One row per combination of all values of some attributes: the people, who may be none.
{# with_zeros(edge=[1, 3]) #}
CREATE OR REPLACE VIEW with_zeros AS
SELECT {{ edge | each("values_#.code AS place_#,") }} coalesce(raw.people, 0) AS people
FROM {{ edge | each("values_#", " CROSS JOIN ") }}
LEFT JOIN raw ON {{ edge | each("values_#.code = raw.place_#", " AND ") }};

-- One row per cell of a published table of a file, with the codes of its values.
{# coded_cells(edge=[1, 3]) #}
CREATE OR REPLACE VIEW coded_cells AS
SELECT
    {{ edge | each("values_#.code AS place_#,") }}
    raw.line,
    raw.published,
    raw.hidden,
    raw.lower,
    least(raw.upper, all_people)::BIGINT AS upper,
    NULL::BIGINT AS people
FROM raw
{{ edge | each("INNER JOIN values_# ON raw.value_# IS NOT DISTINCT FROM values_#.value") }};

-- One row: how many cells of a published table cannot have their published count, and their first line.
{# untrue_cells(edge=[1, 3]) #}
CREATE OR REPLACE VIEW untrue_cells AS
SELECT
    count(*) AS cells,
    min(cells.line) AS line
FROM cells
FULL JOIN truth {{ edge | using("place") }}
WHERE NOT coalesce(truth.people, 0) BETWEEN coalesce(cells.lower, 0) AND coalesce(cells.upper, unlisted);

-- One row per combination that a file lists, as a cell of which is only known that it can occur.
{# listed_combinations(edge=[1, 3]) #}
CREATE OR REPLACE VIEW listed_combinations AS
SELECT DISTINCT
    {{ edge | each("values_#.code AS place_#,") }}
    0::BIGINT AS lower,
    all_people::BIGINT AS upper
FROM listed
{{ edge | each("INNER JOIN values_# ON listed.value_# IS NOT DISTINCT FROM values_#.value::VARCHAR") }};

-- One row per pair of values of two nested dimensions, as a cell of which is only known that it can
-- occur.
{# nested_pairs(edge=[1, 3]) #}
CREATE OR REPLACE VIEW nested_pairs AS
SELECT {{ edge | each("place_#,") }} 0::BIGINT AS lower, all_people::BIGINT AS upper
FROM pairs;

-- One row per cell of a published table, with the outer value of its inner ones.
{# with_outer(inner=[1], outer=3) #}
CREATE OR REPLACE VIEW with_outer AS
SELECT cells.*, pairs.place_{{ outer }}
FROM cells
INNER JOIN pairs {{ inner | using("place") }};

-- One row per cell of a table as an office publishes it: its count, NULL if it is hidden, and the
-- counts that it may stand for. `asked` says how a count is published, and what a hidden and a printed
-- one may stand for.
{# published_cells(edge=[1, 3]) #}
CREATE OR REPLACE VIEW published_cells AS
SELECT
    *,
    published IS NULL AS hidden,
    NULL AS line,
    CASE WHEN published IS NULL THEN asked.smallest ELSE asked.low END::BIGINT AS lower,
    CASE WHEN published IS NULL THEN asked.largest ELSE asked.high END::BIGINT AS upper
FROM (
    SELECT {{ edge | each("place_#,") }} people, asked.published_count AS published
    FROM raw
    CROSS JOIN asked
) AS cells
CROSS JOIN asked;

-- One row per combination of cells: the records, and whether they are suppressed.
{# counted(columns=[1, 2]) #}
CREATE OR REPLACE VIEW counted AS
SELECT {{ columns | each("cell_#,") }} suppressed, sum(weight)::BIGINT AS people
FROM released
GROUP BY ALL;

-- One row: all records, and those that are suppressed.
CREATE OR REPLACE VIEW sizes AS
SELECT
    coalesce(sum(people), 0)::BIGINT AS records,
    coalesce(sum(people) FILTER (WHERE suppressed), 0)::BIGINT AS suppressed
FROM counted;

-- One row per different cell of a column, as a value of an attribute that nothing else tells of; one
-- more if people whose cells are not shown may have another value.
{# cells_as_values(attribute=3, is_open=True), cells_as_values(attribute=3, is_open=False) #}
CREATE OR REPLACE VIEW cells_as_values AS
SELECT DISTINCT value AS value_{{ attribute }}
FROM (
    SELECT cell::VARCHAR AS value FROM cells
    {{ "UNION ALL SELECT '(other)' AS value" if is_open }}
) AS listed;

-- One row: whether all values are written as whole numbers, as numbers, and as dates.
CREATE OR REPLACE VIEW kinds_of_values AS
SELECT
    coalesce(bool_and(regexp_full_match(value, '-?(0|[1-9][0-9]{0,17})')), FALSE) AS whole,
    coalesce(bool_and(regexp_full_match(value, '-?(0|[1-9][0-9]{0,14})([.][0-9]{1,12})?')), FALSE) AS number,
    coalesce(bool_and(
        regexp_full_match(value, '[0-9]{4}-[0-9]{2}-[0-9]{2}') AND TRY_CAST(value AS DATE) IS NOT NULL
    ), FALSE) AS dated
FROM known;

-- One row per code of a value and cell that contains it.
CREATE OR REPLACE VIEW cell_contents AS
SELECT DISTINCT codes.code, contained.id
FROM contained
INNER JOIN codes ON contained.place = codes.place
WHERE contained.inside;

-- One row: the cells without a value, those with several, and the values that several cells contain.
CREATE OR REPLACE VIEW faults AS
SELECT
    (SELECT count(*) FROM cells WHERE id NOT IN (SELECT id FROM pairs)) AS outside,
    (SELECT count(*) FROM (SELECT id FROM pairs GROUP BY id HAVING count(*) > 1) AS coarse) AS coarse,
    (SELECT count(*) FROM (SELECT code FROM pairs GROUP BY code HAVING count(*) > 1) AS twice) AS twice;

-- One row per cell of a column, with the code of its one value (`is_plain`) or its own number.
{# numbered(is_plain=True), numbered(is_plain=False) #}
CREATE OR REPLACE VIEW numbered AS
SELECT cells.cell::VARCHAR AS cell, {{ "pairs.code AS id" if is_plain else "cells.id" }}
FROM cells
{{ "INNER JOIN pairs ON cells.id = pairs.id" if is_plain }};

-- One row per combination of cells of a release, by their numbers (NULL: suppressed).
{# numbered_records(columns=[1, 2]) #}
CREATE OR REPLACE VIEW numbered_records AS
SELECT {{ columns | each("numbered_#.id AS id_#,") }} counted.suppressed, sum(counted.people)::BIGINT AS people
FROM counted
{{ columns | each("LEFT JOIN numbered_# ON counted.cell_#::VARCHAR IS NOT DISTINCT FROM numbered_#.cell") }}
GROUP BY ALL;

-- One row per value of an attribute: the cell that contains it, or one behind the last if none does.
{# cells_of_values(attribute=1, derived=3) #}
CREATE OR REPLACE VIEW cells_of_values AS
SELECT
    listed.code AS place_{{ attribute }},
    coalesce(pairs.id, (SELECT count(*) + 1 FROM cells)) AS place_{{ derived }}
FROM listed
LEFT JOIN pairs ON listed.code = pairs.code;

-- One row per code of an attribute that is made of cells: the text of the cell; NULL where no cell is.
{# derived_values(derived=3) #}
CREATE OR REPLACE VIEW derived_values AS
SELECT codes.code, cells.cell::VARCHAR AS value
FROM (SELECT DISTINCT place_{{ derived }} AS code FROM pairs) AS codes
LEFT JOIN cells ON codes.code = cells.id;

-- One row per class: the different cells of some columns together.
{# classes(columns=[1, 2]) #}
CREATE OR REPLACE VIEW classes AS
SELECT {{ columns | each("id_#,") }} row_number() OVER () AS id
FROM (SELECT DISTINCT {{ columns | each("id_#", ", ") }} FROM numbered_records WHERE NOT suppressed) AS different;

-- One row: the combinations of values in all classes together, each counted in each class with it.
-- `coarse` columns have cells with several values.
{# combinations_in_classes(coarse=[1]), combinations_in_classes(coarse=[1, 2]) #}
CREATE OR REPLACE VIEW combinations_in_classes AS
SELECT sum({{ coarse | each("width_#::HUGEINT", " * ") }})::HUGEINT AS combinations
FROM classes
{{ coarse | each("INNER JOIN (SELECT id AS id_#, count(*) AS width_# FROM pairs_# GROUP BY id) AS widths_# USING (id_#)") }};

-- One row per combination of values and class that contains it. An attribute of a column that is not
-- `coarse` has the code that is the number of the cell.
{# values_in_classes(coarse=[[1, 3]], plain=[[2, 4]]) #}
CREATE OR REPLACE VIEW values_in_classes AS
SELECT
    {% for column, attribute in coarse %}
    pairs_{{ column }}.code AS place_{{ attribute }},
    {% endfor %}
    {% for column, attribute in plain %}
    classes.id_{{ column }} AS place_{{ attribute }},
    {% endfor %}
    classes.id
FROM classes
{% for column, attribute in coarse %}
INNER JOIN pairs_{{ column }} ON classes.id_{{ column }} = pairs_{{ column }}.id
{% endfor %};

-- One row: how many combinations of values are in several classes.
{# shared_by_classes(edge=[3, 4]) #}
CREATE OR REPLACE VIEW shared_by_classes AS
SELECT count(*) AS combinations
FROM (SELECT {{ edge | each("place_#,") }} count(*) AS n FROM found GROUP BY ALL HAVING count(*) > 1) AS twice;

-- One row per combination of values: the class that contains it, or one behind the last if none does.
{# classes_of_values(edge=[3, 4], derived=5) #}
CREATE OR REPLACE VIEW classes_of_values AS
SELECT
    {{ edge | each("values_#.code AS place_#,") }}
    coalesce(found.id, (SELECT count(*) + 1 FROM classes)) AS place_{{ derived }}
FROM {{ edge | each("values_#", " CROSS JOIN ") }}
LEFT JOIN found ON {{ edge | each("values_#.code = found.place_#", " AND ") }};

-- One row per class of a statement: its number as a value.
{# class_values(derived=3) #}
CREATE OR REPLACE VIEW class_values AS
SELECT DISTINCT place_{{ derived }} AS code, 'class ' || place_{{ derived }} AS value
FROM pairs;

-- One row per combination of numbers of cells, with the number of its class (`id_0`).
{# records_of_classes(columns=[1, 2]) #}
CREATE OR REPLACE VIEW records_of_classes AS
SELECT numbered_records.*, classes.id AS id_0
FROM numbered_records
LEFT JOIN classes {{ columns | using("id") }};

-- One row per cell of the table that a release is: its people, up to `further` more where records are
-- suppressed or missing. `pairs` has each column with its attribute; `hides`: suppressed records are not
-- counted here.
{# statement(pairs=[[1, 4], [2, 5]], hides=True), statement(pairs=[[1, 4]], hides=False) #}
CREATE OR REPLACE VIEW statement AS
SELECT
    {% for column, attribute in pairs %}
    id_{{ column }} AS place_{{ attribute }},
    {% endfor %}
    sum(people)::BIGINT AS published,
    sum(people)::BIGINT AS lower,
    least(sum(people) + further, all_people)::BIGINT AS upper,
    FALSE AS hidden,
    NULL::BIGINT AS line,
    NULL::BIGINT AS people
FROM numbered_records
{{ "WHERE NOT suppressed" if hides }}
GROUP BY ALL;

-- One row per cell of a table, with the texts of its values, as a ledger keeps it.
{# ledger_cells(edge=[1, 3]) #}
CREATE OR REPLACE VIEW ledger_cells AS
SELECT
    {% for i in edge %}
    values_{{ i }}.value::VARCHAR AS value_{{ loop.index }},
    {% endfor %}
    cells.published,
    cells.lower,
    cells.upper,
    cells.hidden
FROM cells
{{ edge | each("INNER JOIN values_# ON cells.place_# = values_#.code") }}
ORDER BY ALL;
