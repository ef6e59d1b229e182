-- Values of a quasi-identifier as places, those of a secret as numbers.

-- One row per value of a quasi-identifier: its place on a scale of whole numbers from 0 to 2^30, in
-- the order of the values, missing last, one average step behind the greatest. Where values cannot
-- be measured, or lie too far apart, their numbers are. No two values share a place.
CREATE OR REPLACE VIEW scale AS
SELECT
    value,
    code,
    people,
    (code + max(share - code) OVER (ORDER BY code))::INTEGER AS place
FROM (
    SELECT
        value,
        code,
        people,
        CASE
            WHEN "values" = 1 THEN 0
            WHEN NOT measurable THEN floor(code / ("values" - 1) * 1073741824)
            WHEN value IS NULL THEN 1073741824
            ELSE floor((position - least) / span * 1073741824)
        END::BIGINT AS share
    FROM measured
    CROSS JOIN (
        SELECT
            *,
            coalesce(numbers > 1 AND known > 0 AND isfinite(span) AND positions = numbers, FALSE)
                AS measurable
        FROM (
            SELECT
                *,
                known + CASE WHEN numbers < "values" THEN known / (numbers - 1) ELSE 0 END AS span
            FROM (
                SELECT
                    count(*) AS "values",
                    count(value) AS numbers,
                    count(position) AS positions,
                    min(position) AS least,
                    max(position) - min(position) AS known
                FROM measured
            ) AS counted
        ) AS spanned
    ) AS limits
) AS shared;

-- One row: the least and the greatest of the values of a quasi-identifier, whole numbers.
CREATE OR REPLACE VIEW ends_of_values AS
SELECT
    coalesce(min(value), 0)::HUGEINT AS least,
    coalesce(max(value), 0)::HUGEINT AS greatest
FROM scale;

-- One row: whether some value is longer than so many characters, and whether some has a star in them.
CREATE OR REPLACE VIEW prefix_flags AS
SELECT
    coalesce(bool_or(length(value::VARCHAR) > kept_characters), FALSE) AS longer,
    coalesce(bool_or(contains(left(value::VARCHAR, kept_characters), '*')), FALSE) AS starred
FROM scale;

-- One row: how many values a scale has, the place of the missing value, and its ends.
CREATE OR REPLACE VIEW ends AS
SELECT
    count(*) AS "values",
    any_value(place) FILTER (WHERE value IS NULL) AS missing,
    min(place) AS least,
    max(place) AS greatest
FROM scale;

-- One row per value of a secret: how many people have it, how many have it or a smaller one, and
-- the sum of the latter over all smaller values.
CREATE OR REPLACE VIEW whole AS
SELECT
    code,
    people,
    upto,
    sum(upto) OVER (ORDER BY code) - upto AS before
FROM (
    SELECT
        code,
        people,
        sum(people) OVER (ORDER BY code) AS upto
    FROM dictionary
) AS added;

-- One row per record: its position, its places, the codes of its secrets, and where people have
-- several records, its person.
{# coded_places(qids=2, secrets=1, person=True), coded_places(qids=1, secrets=0, person=False) #}
CREATE OR REPLACE VIEW coded_places AS
SELECT
    everybody.record
    {% for i in range(1, qids + 1) %}
    , of_{{ i }}.place::INTEGER AS place_{{ i }}
    {% endfor %}
    {% for j in range(1, secrets + 1) %}
    , of_{{ qids + j }}.code::INTEGER AS secrets_{{ j }}
    {% endfor %}
    {% if person %}
    , everybody.qid_{{ qids + secrets + 1 }} AS person
    {% endif %}
FROM everybody
{% for i in range(1, qids + 1) %}
INNER JOIN scale_{{ i }} AS of_{{ i }} ON everybody.qid_{{ i }} IS NOT DISTINCT FROM of_{{ i }}.value
{% endfor %}
{% for i in range(qids + 1, qids + secrets + 1) %}
INNER JOIN dictionary_secret_{{ i - qids }} AS of_{{ i }}
    ON everybody.qid_{{ i }} IS NOT DISTINCT FROM of_{{ i }}.value
{% endfor %};

-- One row per record: its position, places and secrets, and behind these the number of the first
-- record of its person, who is its own where it names none.
{# owned(secrets=2), owned(secrets=0) #}
CREATE OR REPLACE VIEW owned AS
SELECT
    record,
    place,
    {{ range(1, secrets + 1) | each("secrets_#,") }}
    CASE WHEN person IS NULL THEN record ELSE min(record) OVER (PARTITION BY person) END
        AS secrets_{{ secrets + 1 }}
FROM named;

-- One row per person: the number of her multiset of values of each secret, and that of her reported
-- values, NULL where she reports none.
{# multisets(secrets=2), multisets(secrets=0) #}
CREATE OR REPLACE VIEW multisets AS
SELECT
    person
    {% for j in range(1, secrets + 1) %}
    , dense_rank() OVER (ORDER BY values_{{ j }}) - 1 AS set_{{ j }}
    , CASE WHEN reported_{{ j }} IS NOT NULL
        THEN dense_rank() OVER (ORDER BY reported_{{ j }} NULLS LAST) - 1
    END AS reported_set_{{ j }}
    {% endfor %}
FROM (
    SELECT
        secrets_{{ secrets + 1 }} AS person
        {% for j in range(1, secrets + 1) %}
        , list_sort(list(secrets_{{ j }})) AS values_{{ j }}
        , list_sort(list(secrets_{{ j }}) FILTER (WHERE secrets_{{ j }} < missing_{{ j }})) AS reported_{{ j }}
        {% endfor %}
    FROM owned
    GROUP BY person
) AS listed;

-- One row per record, with the numbers of its person's multisets behind the person.
{# with_multisets(secrets=2), with_multisets(secrets=0) #}
CREATE OR REPLACE VIEW with_multisets AS
SELECT
    owned.*
    {% for j in range(1, secrets + 1) %}
    , multisets.set_{{ j }} AS secrets_{{ secrets + 2 * j }}
    , multisets.reported_set_{{ j }} AS secrets_{{ secrets + 2 * j + 1 }}
    {% endfor %}
FROM owned
INNER JOIN multisets ON owned.secrets_{{ secrets + 1 }} = multisets.person;

-- One row per value of what is coded of people, such as a secret or a multiset: how many different
-- people have it.
CREATE OR REPLACE VIEW counted_people AS
SELECT
    secret AS code,
    count(DISTINCT person) AS people
FROM coded
WHERE secret IS NOT NULL
GROUP BY secret;
