-- People with several records: what is known of each, all of her records or one.

-- One row per person of whom all records are known: the multiset of their quasi-identifiers, as a
-- sorted list, and that of each secret; of reported values, if the secret is reported. A record
-- without a person is a person of its own. Households are all that her records name.
{# known_by_all(qids=2, secrets=1, reported=0, housed=0), known_by_all(qids=1, secrets=1, reported=1, housed=1) #}
CREATE OR REPLACE VIEW known_by_all AS
SELECT
    list_sort(list({ {{ range(1, qids + 1) | each("'qid_#': qid_#", ", ") }} })) AS qid_1
    {% for j in range(1, secrets + 1) %}
    , list_sort(list(secret_{{ j }}) {{ "FILTER (WHERE secret_1 IS NOT NULL)" if reported }}) AS secret_{{ j }}
    {% endfor %}
    {{ ", list(DISTINCT household) FILTER (WHERE household IS NOT NULL) AS household" if housed }}
FROM records
GROUP BY person, CASE WHEN person IS NULL THEN record END
{{ "HAVING count(secret_1) > 0" if reported }};

-- One row per person: the multiset of each secret, the number of her records, and that of her record
-- if it has no person.
{# persons(secrets=2, reported=0), persons(secrets=1, reported=1), persons(secrets=0, reported=0) #}
CREATE OR REPLACE VIEW persons AS
SELECT
    person,
    CASE WHEN person IS NULL THEN record END AS alone,
    count(*) AS records
    {% for j in range(1, secrets + 1) %}
    , list_sort(list(secret_{{ j }}) {{ "FILTER (WHERE secret_1 IS NOT NULL)" if reported }}) AS secret_{{ j }}
    {% endfor %}
FROM records
GROUP BY person, alone
{{ "HAVING count(secret_1) > 0" if reported }};

-- One row per person and different record of hers, if one record is known: its quasi-identifiers,
-- her secrets, how many of her records are like it, and whether all of them are.
{# known_by_one(qids=2, secrets=1), known_by_one(qids=1, secrets=0) #}
CREATE OR REPLACE VIEW known_by_one AS
SELECT
    {{ range(1, qids + 1) | each("records.qid_#,") }}
    {{ range(1, secrets + 1) | each("any_value(persons.secret_#) AS secret_#,") }}
    persons.person,
    persons.alone,
    count(*) AS alike,
    count(*) = any_value(persons.records) AS lone
FROM records
JOIN persons
    ON persons.person IS NOT DISTINCT FROM records.person
    AND persons.alone IS NOT DISTINCT FROM CASE WHEN records.person IS NULL THEN records.record END
GROUP BY {{ range(1, qids + 1) | each("records.qid_#,") }} persons.person, persons.alone;

-- One row per person with several records. Those of other people are counted as they are, which
-- takes neither lists nor numbers.
CREATE OR REPLACE VIEW several AS
SELECT person
FROM records
WHERE person IS NOT NULL
GROUP BY person
HAVING count(*) > 1;

-- One row per record of these people.
{# of_several(qids=2, secrets=1), of_several(qids=1, secrets=0) #}
CREATE OR REPLACE VIEW of_several AS
SELECT
    {{ range(1, qids + 1) | each("qid_#,") }}
    {{ range(1, secrets + 1) | each("secret_#,") }}
    person
FROM records
WHERE person IN (SELECT several.person FROM several);

-- One row per person with several records and different record of hers: how many of her records are
-- alike.
{# different(qids=2), different(qids=1) #}
CREATE OR REPLACE VIEW different AS
SELECT
    {{ range(1, qids + 1) | each("qid_#,") }}
    person,
    count(*) AS alike
FROM of_several
GROUP BY {{ range(1, qids + 1) | each("qid_#,") }} person;

-- One row per combination of quasi-identifiers that these records have: how many of them, of how many
-- people, one of these, and its number. Lists of numbers are made, sorted and compared faster than
-- lists of values.
{# tuples(qids=2), tuples(qids=1) #}
CREATE OR REPLACE VIEW tuples AS
SELECT
    {{ range(1, qids + 1) | each("qid_#,") }}
    sum(alike)::BIGINT AS records,
    count(*) AS people,
    any_value(person) AS person,
    row_number() OVER ()::UINTEGER AS number
FROM different
GROUP BY {{ range(1, qids + 1) | each("qid_#", ", ") }};

-- One row per value of a secret that records have: its number, in the order of the values, missing
-- last.
CREATE OR REPLACE VIEW secret_numbers AS
SELECT
    secret AS value,
    row_number() OVER (ORDER BY secret ASC NULLS LAST)::UINTEGER AS number
FROM records
GROUP BY secret;

-- One row per person with several records: the multiset of the quasi-identifiers of these, as the
-- sorted list of their numbers, and that of each secret; of reported values, if the secret is
-- reported. The order of persons makes grouping faster, and nothing else.
{# gathered(qids=2, secrets=1, reported=0), gathered(qids=1, secrets=1, reported=1) #}
CREATE OR REPLACE VIEW gathered AS
SELECT
    person,
    list_sort(list(number)) AS numbers
    {% for j in range(1, secrets + 1) %}
    , list_sort(list(secret_{{ j }}) {{ "FILTER (WHERE secret_1 IS NOT NULL)" if reported }}) AS secret_{{ j }}
    {% endfor %}
FROM (
    SELECT
        of_several.person,
        tuples.number
        {{ range(1, secrets + 1) | each(", secret_numbers_#.number AS secret_#") }}
    FROM of_several
    JOIN tuples
        ON {{ range(1, qids + 1) | each("tuples.qid_# IS NOT DISTINCT FROM of_several.qid_#", " AND ") }}
    {% for j in range(1, secrets + 1) %}
    LEFT JOIN secret_numbers_{{ j }}
        ON secret_numbers_{{ j }}.value {{ "=" if reported else "IS NOT DISTINCT FROM" }} of_several.secret_{{ j }}
    {% endfor %}
    ORDER BY of_several.person, tuples.number
) AS numbered
GROUP BY person
{{ "HAVING count(secret_1) > 0" if reported }};

-- One row per multiset of a secret that somebody may have, each value alone among them: its
-- number, in the order of the multisets.
CREATE OR REPLACE VIEW secret_sets AS
SELECT
    members,
    row_number() OVER (ORDER BY members) AS number
FROM (
    SELECT secret AS members FROM gathered
    UNION
    SELECT [number] AS members FROM secret_numbers
) AS every_set;

-- One row per person with several records: what records she has, and the number of the multiset of
-- each secret.
{# sets(secrets=2), sets(secrets=0) #}
CREATE OR REPLACE VIEW sets AS
SELECT
    gathered.person,
    gathered.numbers
    {{ range(1, secrets + 1) | each(", secret_sets_#.number AS secret_#") }}
FROM gathered
{{ range(1, secrets + 1) | each("JOIN secret_sets_# ON secret_sets_#.members = gathered.secret_#") }};

-- One row per record of a person who has no other, and the number of the multiset of each secret.
{# singles(qids=2, secrets=1, reported=0), singles(qids=1, secrets=1, reported=1) #}
CREATE OR REPLACE VIEW singles AS
SELECT
    {{ range(1, qids + 1) | each("records.qid_#", ", ") }}
    {{ range(1, secrets + 1) | each(", secret_sets_#.number AS secret_#") }}
FROM records
{% for j in range(1, secrets + 1) %}
JOIN secret_numbers_{{ j }}
    ON secret_numbers_{{ j }}.value {{ "=" if reported else "IS NOT DISTINCT FROM" }} records.secret_{{ j }}
JOIN secret_sets_{{ j }} ON secret_sets_{{ j }}.members = [secret_numbers_{{ j }}.number]
{% endfor %}
WHERE NOT EXISTS (SELECT 1 FROM several WHERE several.person = records.person);

-- One row per person of whom all records are known, and her secrets: her record, or a list of the
-- numbers of several.
{# numbers_of_all(qids=2, secrets=2), numbers_of_all(qids=1, secrets=0) #}
CREATE OR REPLACE VIEW numbers_of_all AS
SELECT *
FROM (
    SELECT
        {{ range(1, qids + 1) | each("qid_#,") }}
        NULL::UINTEGER[] AS qid_{{ qids + 1 }}
        {{ range(1, secrets + 1) | each(", secret_#") }}
    FROM singles
    UNION ALL
    SELECT
        {{ range(1, qids + 1) | each("NULL AS qid_#,") }}
        numbers AS qid_{{ qids + 1 }}
        {{ range(1, secrets + 1) | each(", secret_#") }}
    FROM sets
) AS everybody;

-- One row per person and different record of hers, if one record is known, and her secrets. `lone`:
-- she has no other; then `person` is NULL.
{# numbers_of_one(qids=2, secrets=2), numbers_of_one(qids=1, secrets=0) #}
CREATE OR REPLACE VIEW numbers_of_one AS
SELECT *
FROM (
    SELECT
        {{ range(1, qids + 1) | each("qid_#,") }}
        NULL AS person,
        0 AS alone,
        1 AS alike,
        TRUE AS lone
        {{ range(1, secrets + 1) | each(", secret_#") }}
    FROM singles
    UNION ALL
    SELECT
        {{ range(1, qids + 1) | each("different.qid_#,") }}
        different.person,
        0 AS alone,
        different.alike,
        FALSE AS lone
        {{ range(1, secrets + 1) | each(", sets.secret_#") }}
    FROM different
    JOIN sets ON sets.person = different.person
) AS everybody;

-- One row per kind of block of equal records, if one record is known and the secret is whose it is:
-- how many records there are, how many people have one of them, how many of these have no other,
-- and who has them, if it is one person with several records. All records are grouped, and then what
-- these people have is joined: that takes less than leaving their records out first.
{# known_kinds(qids=2), known_kinds(qids=1) #}
CREATE OR REPLACE VIEW known_kinds AS
SELECT
    records,
    size,
    lone_people,
    sole_owner,
    count(*) AS blocks
FROM (
    SELECT
        blocks.records,
        blocks.records - coalesce(tuples.records, 0) + coalesce(tuples.people, 0) AS size,
        blocks.records - coalesce(tuples.records, 0) AS lone_people,
        CASE
            WHEN blocks.records = tuples.records AND tuples.people = 1 THEN tuples.person
        END AS sole_owner
    FROM (
        SELECT
            {{ range(1, qids + 1) | each("qid_#,") }}
            count(*) AS records
        FROM records
        GROUP BY {{ range(1, qids + 1) | each("qid_#", ", ") }}
    ) AS blocks
    LEFT JOIN tuples
        ON {{ range(1, qids + 1) | each("tuples.qid_# IS NOT DISTINCT FROM blocks.qid_#", " AND ") }}
) AS known_blocks
GROUP BY records, size, lone_people, sole_owner;

-- One row per size of block of these people: how many blocks there are, and their records.
CREATE OR REPLACE VIEW known_sizes AS
SELECT
    size,
    1::BIGINT AS mode,
    size AS "values",
    sum(blocks)::BIGINT AS blocks,
    sum(records * blocks)::BIGINT AS records
FROM known_kinds
GROUP BY size;

-- One row: how many people have a record that nobody else has.
CREATE OR REPLACE VIEW known_alone AS
SELECT
    people AS singled_out,
    people AS certain
FROM (
    SELECT
        count(DISTINCT sole_owner)
        + coalesce(sum(blocks) FILTER (WHERE size = 1 AND lone_people = 1), 0)::BIGINT AS people
    FROM known_kinds
) AS everybody;

-- One row per size of block of people of whom all records are known, when the secret is whose record
-- it is. Those with one record are in the block of equal records, which is counted already.
CREATE OR REPLACE VIEW sizes_of_sets AS
SELECT
    size,
    1::BIGINT AS mode,
    size AS "values",
    sum(blocks)::BIGINT AS blocks
FROM (
    SELECT
        lone_people AS size,
        blocks
    FROM known_kinds
    WHERE lone_people > 0
    UNION ALL
    SELECT
        count(*) AS size,
        1 AS blocks
    FROM sets
    GROUP BY numbers
) AS every_block
GROUP BY size;

-- One row: everybody is one block, when the secret is whose record it is.
CREATE OR REPLACE VIEW everybody_of_sets AS
SELECT
    size,
    size AS weight,
    1::BIGINT AS mode,
    1::BIGINT AS heaviest,
    size AS "values"
FROM (
    SELECT (coalesce(sum(lone_people * blocks), 0) + (SELECT count(*) FROM sets))::BIGINT AS size
    FROM known_kinds
) AS everybody;
