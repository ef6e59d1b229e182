-- The records behind published tables, and the values and combinations of their dimensions: values get
-- codes, from 1 in their order, in a table for each attribute.

-- One row per combination of attributes that records have: how many people.
{# record_counts(edge=[1, 3]) #}
CREATE OR REPLACE VIEW record_counts AS
SELECT {{ edge | each("qid_# AS value_#,") }} count(*) AS people
FROM microdata
GROUP BY ALL;

-- One row: how many people an adversary with all records gets right: the largest value of the secret in
-- each block, or one person of each block.
{# records_right(edge=[1, 3], knowledge=[1], has_secret=True), records_right(edge=[1], knowledge=[1], has_secret=False) #}
CREATE OR REPLACE VIEW records_right AS
SELECT {{ "sum(largest)" if has_secret else "count(*)" }} AS people
FROM (
    SELECT {{ knowledge | each("qid_#,") }} max(people) AS largest
    FROM (
        SELECT {{ edge | each("qid_#,") }} count(*) AS people FROM microdata GROUP BY ALL
    ) AS cells
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

-- One row per cell of a published table, with the outer value of its inner one.
{# with_outer(inner=1, outer=3) #}
CREATE OR REPLACE VIEW with_outer AS
SELECT cells.*, pairs.place_{{ outer }}
FROM cells
INNER JOIN pairs ON cells.place_{{ inner }} = pairs.place_{{ inner }};

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
