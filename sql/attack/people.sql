-- People with several records: what the adversary knows of each, all of them or one.

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

-- One row per block of equal records and secret: how many people have such a record and that
-- secret, and how many records of theirs are in the block.
CREATE OR REPLACE VIEW known_cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    sum(alike)::BIGINT AS records
FROM microdata
GROUP BY qid, secret;

-- One row per block of equal records: how many people have one in it, how many of these have the
-- most frequent secret, how many secrets they have, and how many records the block holds.
CREATE OR REPLACE VIEW known_blocks AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    max(people) AS mode,
    count(*) AS "values",
    sum(records)::BIGINT AS records
FROM known_cells
GROUP BY qid;

-- One row per block of equal records when the secret is whose record it is.
CREATE OR REPLACE VIEW known_owners AS
SELECT
    qid,
    count(*) AS size,
    1::BIGINT AS mode,
    count(*) AS "values",
    sum(alike)::BIGINT AS records
FROM microdata
GROUP BY qid;

-- One row per kind of block of equal records: how many blocks there are, and their records.
CREATE OR REPLACE VIEW known_profile AS
SELECT
    size,
    mode,
    "values",
    count(*) AS blocks,
    sum(records)::BIGINT AS records
FROM known_blocks
GROUP BY size, mode, "values";

-- One row: how many people have a record that singles them out, and how many have one in a block
-- with one secret.
CREATE OR REPLACE VIEW known_certain AS
SELECT
    count(*) FILTER (WHERE alone_there) AS singled_out,
    count(*) FILTER (WHERE certain) AS certain
FROM (
    SELECT
        bool_or(known_blocks.size = 1) AS alone_there,
        bool_or(known_blocks."values" = 1) AS certain
    FROM microdata
    JOIN known_blocks ON known_blocks.qid IS NOT DISTINCT FROM microdata.qid
    GROUP BY microdata.person, microdata.alone
) AS everybody;
