-- What was found: kinds of blocks become sums, states become subsets.

-- One row per state, question and kind of settled block: its people, those for whom the best guess is
-- right, the values of the secret, and how many blocks are of this kind. In re-identification
-- (question 0) one guess is right in each block. `questions` have for each counter of the values of a
-- secret its word and the number of bits below it there, as `people` has for that of the people. The
-- last value has no counter: its people are those who remain.
{# kinds(valued=False, mask=127, people=[1, 0], questions=[[0, []], [1, [[1, 7], [1, 14]]]]), kinds(valued=True, mask=127, people=[1, 0], questions=[[3, []]]) #}
CREATE OR REPLACE VIEW kinds AS
{% macro counter(place) %}((word_{{ place[0] }} >> {{ place[1] }}) & '{{ mask }}'::HUGEINT)::BIGINT{% endmacro %}
SELECT *
FROM (
    {% for question, counters in questions %}
    {{ "UNION ALL" if not loop.first }}
    SELECT
        state,
        {{ question }}::UTINYINT AS question,
        size,
        {% if question == 0 %}
        1::BIGINT AS mode,
        size AS "values",
        {% elif valued %}
        mode,
        "values",
        {% else %}
        greatest({% for _ in counters %}counter_{{ loop.index }}, {% endfor %}remaining) AS mode,
        {% for _ in counters %}(counter_{{ loop.index }} > 0)::BIGINT + {% endfor %}(remaining > 0)::BIGINT AS "values",
        {% endif %}
        sum(blocks) AS blocks
    FROM
        {% if valued %}
        settled
        {% else %}
        (
            SELECT
                state,
                {{ counter(people) }} AS size,
                {% for place in counters %}
                {{ counter(place) }} AS counter_{{ loop.index }},
                {% endfor %}
                {{ counter(people) }}{% for place in counters %} - {{ counter(place) }}{% endfor %} AS remaining,
                blocks
            FROM settled
        ) AS settled
        {% endif %}
    GROUP BY ALL
    {% endfor %}
) AS questions;

-- One row per state, question (0: whose record it is, else the number of a secret) and percent of
-- success, rounded half to even: its blocks, their people, how many of these the best guess is
-- right for, for how many it is certain; the smallest block, the fewest values, the worst chance.
CREATE OR REPLACE VIEW found AS
SELECT
    state,
    question,
    round_even(100 * mode / size, 0)::UTINYINT AS bin,
    sum(blocks)::BIGINT AS blocks,
    sum(size * blocks)::BIGINT AS people,
    sum(mode * blocks)::BIGINT AS mode,
    coalesce(sum(size * blocks) FILTER (WHERE mode = size), 0)::BIGINT AS certain,
    min(size)::BIGINT AS k,
    min("values")::BIGINT AS l,
    max(mode / size) AS worst_case
FROM kinds
GROUP BY ALL;

-- One row per state, question and percent: the sums of what the executors of a cluster found in their
-- chunks. The row without a state has the seconds that they needed, and the statements of one of them.
CREATE OR REPLACE VIEW added AS
SELECT
    state,
    question,
    bin,
    sum(blocks)::BIGINT AS blocks,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain,
    min(k) AS k,
    min(l) AS l,
    max(worst_case) AS worst_case,
    sum(seconds) AS seconds,
    any_value(statements) AS statements
FROM chunk_sums
GROUP BY state, question, bin;

-- One row per question: the sums over all blocks of a subset.
CREATE OR REPLACE VIEW sums AS
SELECT
    state,
    question,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain
FROM found
GROUP BY state, question;

-- One row per row found in one pass, in a state in which nothing is open (percent 0 where bins are
-- not wanted). A pair in which something is open stays a pair where none of it is taken; where some
-- of it is, it is two people alone.
CREATE OR REPLACE VIEW pairs AS
SELECT *
FROM (
    SELECT
        part,
        drop_open(state) AS state,
        question,
        bin * getvariable('with_bins') AS bin,
        blocks,
        people,
        mode,
        certain,
        k,
        l,
        worst_case
    FROM found
    WHERE pass = getvariable('pass')
    UNION ALL
    SELECT
        part,
        joined(
            known(state) | bit | (open(state) & ~(2 * bit - 1)),
            undecided(state) & ~(open(state) & (2 * bit - 1))
        ) AS state,
        question,
        100::UTINYINT * getvariable('with_bins') AS bin,
        people AS blocks,
        people,
        people AS mode,
        people AS certain,
        1 AS k,
        1 AS l,
        1.0::DOUBLE AS worst_case
    FROM (
        SELECT
            *,
            unnest(list_filter(getvariable('bits'), lambda b: (open(state) & b) <> 0)) AS bit
        FROM found
        WHERE pass = getvariable('pass') AND open(state) <> 0
    ) AS parting
) AS kinds;

-- One row per state, question and percent, in which this attribute is taken or dropped: what is
-- free counts for both.
CREATE OR REPLACE VIEW decided AS
SELECT
    part,
    state,
    question,
    bin,
    sum(blocks)::BIGINT AS blocks,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain,
    min(k) AS k,
    min(l) AS l,
    max(worst_case) AS worst_case
FROM (
    SELECT
        * EXCLUDE (state),
        unnest(
            CASE
                WHEN (undecided(state) & getvariable('bit')) = 0 THEN [state]
                ELSE [state - getvariable('bit'), state - getvariable('bit') * getvariable('known_too')]
            END
        ) AS state
    FROM waiting
) AS parted
WHERE
    bit_count(taken_of(state)) <= getvariable('most')
    AND bit_count(dropped(state)) <= getvariable('spare')
GROUP BY part, state, question, bin;

-- One row per subset, question, part of a sample (0: everybody) and percent: the sums over blocks.
CREATE OR REPLACE VIEW subsets AS
SELECT
    as_named(known(state)) AS subset,
    * EXCLUDE (state)
FROM waiting
WHERE (known(state) & -known(state) & getvariable('complete')) <> 0
ORDER BY subset, question, part, bin;

-- One row per random part of a sample: its stratum, of which so many blocks are drawn, and how many
-- blocks and people the stratum has, and how many people its largest block.
CREATE OR REPLACE VIEW parts AS
SELECT
    tasks.number AS part,
    strata.least AS stratum,
    strata.blocks AS of_blocks,
    strata.people AS of_people,
    strata.largest,
    strata.greatest - strata.least + 1 AS drawn
FROM tasks
INNER JOIN strata
    ON tasks.source = strata.source AND tasks.least BETWEEN strata.least AND strata.greatest
WHERE tasks.pass = getvariable('pass')
ORDER BY part;

-- One row per task that is not done, the first ones first.
CREATE OR REPLACE VIEW pending AS
SELECT
    number,
    pass,
    kind,
    source,
    position,
    state,
    least,
    greatest,
    size
FROM kept.tasks
WHERE number NOT IN (SELECT task FROM kept.done)
ORDER BY number;
