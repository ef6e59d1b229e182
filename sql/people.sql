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
