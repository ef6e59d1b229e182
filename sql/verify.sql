-- Counts that a second engine repeats, and the people of a test with a motivated intruder.

-- SQLite runs this as it is. One row per block and value of the secret: how many people, their weight together.
CREATE OR REPLACE VIEW cells AS
SELECT block, "value", count(*) AS people, sum(weight) AS weight
FROM individuals
GROUP BY block, "value";

-- One row per record: the individual, what is known of it, the answers, and how likely the best guess
-- on its block is to give each. Somebody without a value of a secret is at no risk by it.
{# known_records(qids=[1], secrets=[1, 2], person=0, key=1), known_records(qids=[1, 2], secrets=[], person=1, key=0) #}
CREATE OR REPLACE VIEW known_records AS
SELECT
    everybody.record,
    {% for j in secrets %}
    everybody.secret_{{ j }}::VARCHAR AS answer_{{ j }},
    blocks_{{ j }}.mode / blocks_{{ j }}.weight AS success_{{ j }},
    {% endfor %}
    {% if person %}
    everybody.person::VARCHAR AS answer_0,
    coalesce('person ' || everybody.person::VARCHAR, 'record ' || everybody.record::VARCHAR)
        AS individual,
    {% else %}
    everybody.{{ "key" if key else "record" }}::VARCHAR AS answer_0,
    'record ' || everybody.record::VARCHAR AS individual,
    crowds.owner_success AS success_0,
    greatest(
        crowds.owner_success
        {% for j in secrets %}
        , CASE
            WHEN everybody.secret_{{ j }} IS NULL THEN 0
            ELSE blocks_{{ j }}.mode / blocks_{{ j }}.weight
        END
        {% endfor %}
    ) AS risk,
    {% endif %}
    {{ qids | each("everybody.qid_#::VARCHAR AS qid_#", ", ") }}
FROM everybody
LEFT JOIN crowds ON crowds.qid IS NOT DISTINCT FROM everybody.qid
{{ secrets | each("LEFT JOIN blocks_# ON blocks_#.qid IS NOT DISTINCT FROM everybody.qid") }};

-- One row per record of people with several: the chance of the best guess at whose it is, where a
-- person is drawn, and then one of their records. Who has more of their records alike is likelier.
{# risks_of_people(qids=[1, 2]) #}
CREATE OR REPLACE VIEW risks_of_people AS
SELECT
    * EXCLUDE (share, of_person),
    max(of_person) OVER (PARTITION BY {{ qids | each("qid_#", ", ") }})::DOUBLE
    / sum(share) OVER (PARTITION BY {{ qids | each("qid_#", ", ") }})::DOUBLE AS success_0,
    success_0 AS risk
FROM (
    SELECT
        *,
        sum(share) OVER (PARTITION BY individual, {{ qids | each("qid_#", ", ") }}) AS of_person
    FROM (
        SELECT
            *,
            1152921504606846976 // count(*) OVER (PARTITION BY individual) AS share
        FROM known_records
    ) AS shares
) AS people_shares;

-- One row per person who is drawn, with one of their records, in an order that the seed decides. If
-- ``by_risk`` is 1, it is the record with the greatest chance, and the people at greatest risk are
-- the first. The command line limits it.
CREATE OR REPLACE VIEW drawn AS
SELECT *
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY individual
            ORDER BY by_risk * risk DESC, md5(concat(seed, '|record|', record))
        ) AS lot
    FROM risks
) AS lots
WHERE lot = 1
ORDER BY by_risk * risk DESC, md5(concat(seed, '|person|', individual)), individual
LIMIT 20;
