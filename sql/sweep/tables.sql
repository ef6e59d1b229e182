-- The coded tables of a pass: people as small numbers, chunks, samples.

-- One row per value of an attribute, numbered from 0 in the attribute's order, missing last: how
-- many people have it.
CREATE OR REPLACE VIEW dictionary AS
SELECT
    value,
    row_number() OVER (ORDER BY value ASC NULLS LAST) - 1 AS code,
    people
FROM (
    SELECT
        attribute AS value,
        count(*) AS people
    FROM microdata
    GROUP BY value
) AS counted;

-- One row: how far the people are spread over the values of an attribute, and whether some value is
-- missing.
CREATE OR REPLACE VIEW spread AS
SELECT
    count(*) AS "values",
    sum(people)::BIGINT AS people,
    max(people)::BIGINT AS most_frequent,
    sum(people::HUGEINT * people) AS together,
    coalesce(bool_or(value IS NULL), FALSE) AS missing
FROM dictionary;

-- One row per person: the code of the first attribute by position; those of the others, each at its
-- bits of a number, whose lowest bits have the code of a secret of many values; the counters of a
-- block of this person, packed in words. `order` has the number of the attribute at each position,
-- `words` have for each word the number of a counter, the secret and the code that it counts, and the
-- unit of the counter in its word. The first word also counts the people, in units of 1.
{# coded_people(order=[2, 1], secrets=[1], valued=False, wide=False, shifts=[9, 0], words=[[[1, 1, 0, 128]], []]), coded_people(order=[1], secrets=[1], valued=True, wide=True, shifts=[4], words=[[]]) #}
CREATE OR REPLACE VIEW coded_people AS
SELECT
    of_qid_{{ order[0] }}.code::INTEGER AS entry,
    {% for i in order[1:] %}
    (of_qid_{{ i }}.code::{{ "UHUGEINT" if wide else "UBIGINT" }} << {{ shifts[loop.index] }}) |
    {% endfor %}
    {% if valued %}
    of_secret_{{ secrets[0] }}.code::{{ "UHUGEINT" if wide else "UBIGINT" }} |
    {% endif %}
    0::{{ "UHUGEINT" if wide else "UBIGINT" }} AS rest,
    {% for counters in words %}
    {% for _, secret, code, unit in counters %}
    CASE WHEN of_secret_{{ secret }}.code = {{ code }} THEN '{{ unit }}'::HUGEINT ELSE 0::HUGEINT END +
    {% endfor %}
    {{ 1 if loop.first else 0 }}::{{ "BIGINT" if valued else "HUGEINT" }} AS word_{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
FROM microdata
{% for i in order %}
INNER JOIN of_qid_{{ i }} ON microdata.qid_{{ i }} IS NOT DISTINCT FROM of_qid_{{ i }}.value
{% endfor %}
{% for j in secrets %}
INNER JOIN of_secret_{{ j }} ON microdata.secret_{{ j }} IS NOT DISTINCT FROM of_secret_{{ j }}.value
{% endfor %};

-- One row per different person, on a cluster, whose numbers have no room for packed codes: a column
-- for each code by position, and for each counter; how many people are alike.
{# unpacked_people(order=[2, 1], secrets=[1], valued=False, wide=False, shifts=[9, 0], words=[[[1, 1, 0, 128]], []]), unpacked_people(order=[1], secrets=[1], valued=True, wide=True, shifts=[4], words=[[]]) #}
CREATE OR REPLACE VIEW unpacked_people AS
SELECT
    of_qid_{{ order[0] }}.code::INTEGER AS entry,
    {% for i in order[1:] %}
    of_qid_{{ i }}.code::INTEGER AS code_{{ loop.index }},
    {% endfor %}
    {% if valued %}
    of_secret_{{ secrets[0] }}.code::INTEGER AS code_of_secret,
    {% endif %}
    count(*) AS people
    {% for counters in words %}{% for number, secret, code, _ in counters %}
    , count(*) FILTER (WHERE of_secret_{{ secret }}.code = {{ code }}) AS counter_{{ number }}
    {% endfor %}{% endfor %}
FROM microdata
{% for i in order %}
INNER JOIN of_qid_{{ i }} ON microdata.qid_{{ i }} IS NOT DISTINCT FROM of_qid_{{ i }}.value
{% endfor %}
{% for j in secrets %}
INNER JOIN of_secret_{{ j }} ON microdata.secret_{{ j }} IS NOT DISTINCT FROM of_secret_{{ j }}.value
{% endfor %}
GROUP BY ALL;

-- One row per row of an unpacked table whose first attribute is at `position`: packed as in
-- coded_people.
{# packed_people(position=0, order=[2, 1], secrets=[1], valued=False, wide=False, shifts=[9, 0], words=[[[1, 1, 0, 128]], []]), packed_people(position=0, order=[1], secrets=[1], valued=True, wide=True, shifts=[4], words=[[]]) #}
CREATE OR REPLACE VIEW packed_people AS
SELECT
    entry,
    {% for p in range(position + 1, order | length) %}
    (code_{{ p }}::{{ "UHUGEINT" if wide else "UBIGINT" }} << {{ shifts[p] }}) |
    {% endfor %}
    {% if valued %}
    code_of_secret::{{ "UHUGEINT" if wide else "UBIGINT" }} |
    {% endif %}
    0::{{ "UHUGEINT" if wide else "UBIGINT" }} AS rest,
    {% for counters in words %}
    {% for number, _, _, unit in counters %}
    counter_{{ number }}::HUGEINT * '{{ unit }}'::HUGEINT +
    {% endfor %}
    {{ "people" if loop.first else 0 }}::{{ "BIGINT" if valued else "HUGEINT" }} AS word_{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
FROM unpacked;

-- One row per different person: her codes, and how many are alike. Those who are close by the first
-- attribute stand close in the table.
CREATE OR REPLACE VIEW merged AS
SELECT
    entry,
    rest,
    sum(word)::HUGEINT AS word
FROM coded
GROUP BY ALL
ORDER BY entry;

-- One row: how many rows the table of all attributes has, and about how many each table has that lacks
-- the first ones. `masks` are the bits of the codes that are left.
{# expected_rows(wide=False, masks=[127, 1]), expected_rows(wide=True, masks=[]) #}
CREATE OR REPLACE VIEW expected_rows AS
SELECT
    count(*) AS rows_0
    {% for mask in masks %}
    , approx_count_distinct(rest & '{{ mask }}'::{{ "UHUGEINT" if wide else "UBIGINT" }}) AS rows_{{ loop.index }}
    {% endfor %}
FROM coded;

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

-- One row per stratum of blocks of about the same size: how many there are, their people, and those
-- of the largest.
CREATE OR REPLACE VIEW strata AS
SELECT
    stratum,
    count(*) AS blocks,
    sum(people)::BIGINT AS people,
    max(people) AS largest
FROM lots
GROUP BY stratum
ORDER BY stratum;

-- One row per different person of a sample: whole blocks of the first attribute, drawn at random and
-- numbered stratum by stratum, in the order in which they were drawn.
CREATE OR REPLACE VIEW sampled AS
SELECT
    (getvariable('starts')[lots.stratum + 1] + lots.place)::INTEGER AS entry,
    coded.rest,
    coded.word
FROM coded
INNER JOIN lots ON coded.entry = lots.entry
WHERE lots.place < getvariable('drawn')[lots.stratum + 1]
ORDER BY 1;

-- One row per different person of the blocks that are not left to chance: those of strata of which
-- nothing is drawn.
CREATE OR REPLACE VIEW certain AS
SELECT
    coded.entry,
    coded.rest,
    coded.word
FROM coded
INNER JOIN lots ON coded.entry = lots.entry
WHERE getvariable('drawn')[lots.stratum + 1] = 0
ORDER BY coded.entry;

-- One row per different person when the first attribute is left out: the next one takes its place.
CREATE OR REPLACE VIEW without_entry AS
SELECT
    (rest >> getvariable('shift'))::INTEGER AS entry,
    rest & getvariable('later') AS rest,
    sum(word)::HUGEINT AS word
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
GROUP BY ALL
ORDER BY entry;

-- One row per different person of a chunk, in order: her block by the first attribute, and her codes
-- of the attributes that are undecided, packed. The counters of those who are alike are added, two
-- in a number of 64 bits. `lanes` have for each of one or two counters its word and the number of
-- bits below it there.
{# chunk_rows(mask=127, lanes=[[[1, 0], [1, 7]], [[2, 0]]]) #}
CREATE OR REPLACE VIEW chunk_rows AS
{% macro counter(place) %}((word_{{ place[0] }} >> {{ place[1] }}) & '{{ mask }}'::HUGEINT)::BIGINT::UBIGINT{% endmacro %}
SELECT
    entry,
    rest,
    {% for places in lanes %}
    {{ counter(places[0]) }}
    {% if places | length == 2 %}
    | ({{ counter(places[1]) }} << 32)
    {% endif %}
    AS lane_{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
ORDER BY entry, rest;
