-- People with several records: what is known of each, all of her records or one.

-- One row per person of whom all records are known: the multiset of their quasi-identifiers, as a
-- sorted list, and that of each secret; of reported values, if the secret is reported. A record
-- without a person is a person of its own.
{# known_by_all(qids=2, secrets=1, reported=0), known_by_all(qids=1, secrets=1, reported=1) #}
CREATE OR REPLACE VIEW known_by_all AS
SELECT
    list_sort(list({ {{ range(1, qids + 1) | each("'qid_#': qid_#", ", ") }} })) AS qid_1
    {% for j in range(1, secrets + 1) %}
    , list_sort(list(secret_{{ j }}) {{ "FILTER (WHERE secret_1 IS NOT NULL)" if reported }}) AS secret_{{ j }}
    {% endfor %}
FROM records
GROUP BY person, CASE WHEN person IS NULL THEN record END
{{ "HAVING count(secret_1) > 0" if reported }};

-- One row per person: the multiset of each secret, and the number of her record if it has no person.
{# persons(secrets=2, reported=0), persons(secrets=1, reported=1), persons(secrets=0, reported=0) #}
CREATE OR REPLACE VIEW persons AS
SELECT
    person,
    CASE WHEN person IS NULL THEN record END AS alone
    {% for j in range(1, secrets + 1) %}
    , list_sort(list(secret_{{ j }}) {{ "FILTER (WHERE secret_1 IS NOT NULL)" if reported }}) AS secret_{{ j }}
    {% endfor %}
FROM records
GROUP BY person, alone
{{ "HAVING count(secret_1) > 0" if reported }};

-- One row per person and different record of hers, if one record is known: its quasi-identifiers,
-- her secrets, and how many of her records are like it.
{# known_by_one(qids=2, secrets=1), known_by_one(qids=1, secrets=0) #}
CREATE OR REPLACE VIEW known_by_one AS
SELECT
    {{ range(1, qids + 1) | each("records.qid_#,") }}
    {{ range(1, secrets + 1) | each("any_value(persons.secret_#) AS secret_#,") }}
    persons.person,
    persons.alone,
    count(*) AS alike
FROM records
JOIN persons
    ON persons.person IS NOT DISTINCT FROM records.person
    AND persons.alone IS NOT DISTINCT FROM CASE WHEN records.person IS NULL THEN records.record END
GROUP BY {{ range(1, qids + 1) | each("records.qid_#,") }} persons.person, persons.alone;

-- One row per combination of quasi-identifiers that records have: its number, and how many have it.
-- Lists of numbers are made, sorted and compared faster than lists of values.
{# tuples(qids=2), tuples(qids=1) #}
CREATE OR REPLACE VIEW tuples AS
SELECT
    {{ range(1, qids + 1) | each("qid_#,") }}
    row_number() OVER ()::UINTEGER AS number,
    count(*) AS records
FROM records
GROUP BY {{ range(1, qids + 1) | each("qid_#", ", ") }};

-- One row per value of a secret that records have: its number, in the order of the values, missing
-- last.
CREATE OR REPLACE VIEW secret_numbers AS
SELECT
    secret AS value,
    row_number() OVER (ORDER BY secret ASC NULLS LAST)::UINTEGER AS number
FROM records
GROUP BY secret;

-- One row per person: the multiset of the quasi-identifiers of her records, as the sorted list of
-- their numbers, and that of each secret; of reported values, if the secret is reported. A record
-- without a person is a person of its own. The order makes grouping faster, and nothing else.
{# gathered(qids=2, secrets=1, reported=0), gathered(qids=1, secrets=1, reported=1) #}
CREATE OR REPLACE VIEW gathered AS
SELECT
    list_sort(list(number)) AS numbers
    {% for j in range(1, secrets + 1) %}
    , list_sort(list(secret_{{ j }}) {{ "FILTER (WHERE secret_1 IS NOT NULL)" if reported }}) AS secret_{{ j }}
    {% endfor %}
FROM (
    SELECT
        records.person,
        CASE WHEN records.person IS NULL THEN records.record END AS alone,
        tuples.number
        {{ range(1, secrets + 1) | each(", secret_numbers_#.number AS secret_#") }}
    FROM records
    JOIN tuples
        ON {{ range(1, qids + 1) | each("tuples.qid_# IS NOT DISTINCT FROM records.qid_#", " AND ") }}
    {% for j in range(1, secrets + 1) %}
    LEFT JOIN secret_numbers_{{ j }}
        ON secret_numbers_{{ j }}.value {{ "=" if reported else "IS NOT DISTINCT FROM" }} records.secret_{{ j }}
    {% endfor %}
    ORDER BY records.person, tuples.number
) AS numbered
GROUP BY person, alone
{{ "HAVING count(secret_1) > 0" if reported }};

-- One row per multiset of a secret that somebody has: its number, in the order of the multisets.
CREATE OR REPLACE VIEW secret_sets AS
SELECT
    secret AS members,
    row_number() OVER (ORDER BY secret) AS number
FROM gathered
GROUP BY secret;

-- One row per person: her number, her records, and the number of the multiset of each secret.
{# numbered_persons(secrets=2), numbered_persons(secrets=0) #}
CREATE OR REPLACE VIEW numbered_persons AS
SELECT
    row_number() OVER () AS person,
    gathered.numbers
    {{ range(1, secrets + 1) | each(", secret_sets_#.number AS secret_#") }}
FROM gathered
{{ range(1, secrets + 1) | each("JOIN secret_sets_# ON secret_sets_#.members = gathered.secret_#") }};

-- One row per person of whom all records are known, and her secrets.
{# numbers_of_all(secrets=2), numbers_of_all(secrets=0) #}
CREATE OR REPLACE VIEW numbers_of_all AS
SELECT
    numbers AS qid_1
    {{ range(1, secrets + 1) | each(", secret_#") }}
FROM numbered_persons;

-- One row per person and different record of hers, if one record is known, and her secrets.
{# numbers_of_one(secrets=2), numbers_of_one(secrets=0) #}
CREATE OR REPLACE VIEW numbers_of_one AS
SELECT
    person,
    alone,
    number AS qid_1,
    CASE
        WHEN len(numbers) = 1 THEN 1
        ELSE len(list_filter(numbers, lambda same: same = number))
    END AS alike
    {{ range(1, secrets + 1) | each(", secret_#") }}
FROM (
    SELECT
        person,
        0 AS alone,
        numbers,
        unnest(
            list_filter(
                numbers,
                lambda number, place: place = 1 OR number != list_extract(numbers, place - 1)
            )
        ) AS number
        {{ range(1, secrets + 1) | each(", secret_#") }}
    FROM numbered_persons
) AS different;
