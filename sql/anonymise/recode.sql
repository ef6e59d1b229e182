-- Global recoding: each step of a quasi-identifier merges its values into groups. In which group is a
-- value on each step, which people are alike at a node, and how are their cells written?

-- One row per value of a quasi-identifier: the number of its group on every step, the first being the
-- values themselves. A step that merges has a form, an expression over the value; `formed` has its results.
{# steps(qid=1, height=2), steps(qid=1, height=0) #}
CREATE OR REPLACE VIEW steps AS
SELECT
    value,
    people,
    {{ range(1, height + 1) | each("form_#,") }}
    {% for s in range(1, height + 1) %}
    dense_rank() OVER (ORDER BY form_{{ s }})::INTEGER AS step_{{ qid }}_{{ s }},
    {% endfor %}
    place AS step_{{ qid }}_0,
    place AS place_{{ qid }}
FROM formed;

-- One row per value: on every step the rank of its group, from 0, among the groups that the next step
-- merges with it.
{# ranks(qid=1, height=2), ranks(qid=1, height=0) #}
CREATE OR REPLACE VIEW ranks AS
SELECT
    *
    {% for s in range(height + 1) %}
    , dense_rank() OVER ({{ "PARTITION BY step_%d_%d" | format(qid, s + 1) if s < height }} ORDER BY step_{{ qid }}_{{ s }}) - 1 AS rank_{{ s }}
    {% endfor %}
FROM steps_of;

-- One row: of each step, how many groups it has, and the bits that the ranks of its groups take.
{# sizes_of_steps(qid=1, height=2), sizes_of_steps(qid=1, height=0) #}
CREATE OR REPLACE VIEW sizes_of_steps AS
SELECT
    {% for s in range(height + 1) %}
    count(DISTINCT step_{{ qid }}_{{ s }}) AS cells_{{ s }},
    length(ltrim(bin(max(rank_{{ s }})), '0')) AS bits_{{ s }},
    {% endfor %}
FROM steps_of;

-- One row per value whose steps are nested: the number of its group on every step, which is that of its
-- group on the next step with the bits of its rank behind it. So a number without its last bits is that
-- of a coarser step; `shifts` are how many bits, for each step, and last those of all.
{# nested_steps(qid=1, shifts=[0, 3, 5, 40]), nested_steps(qid=1, shifts=[0, 0]), nested_steps(qid=1, shifts=[0, 70]) #}
CREATE OR REPLACE VIEW nested_steps AS
{% set heights = range(shifts | length - 1) %}
SELECT
    value,
    people,
    {{ heights[1:] | each("form_#,") }}
    {% for s in heights %}
    code >> {{ shifts[s] }} AS step_{{ qid }}_{{ s }},
    {% endfor %}
    place_{{ qid }}
FROM (
    SELECT
        *,
        (
            {% for s in heights %}
            {{ "+" if not loop.first }} rank_{{ s }} * {{ 2 ** shifts[s] }}::HUGEINT
            {% endfor %}
        )::{{ "TINYINT" if shifts[-1] <= 7 else "SMALLINT" if shifts[-1] <= 15 else "INTEGER" if shifts[-1] <= 31 else "BIGINT" if shifts[-1] <= 63 else "HUGEINT" }} AS code
    FROM steps_of
) AS coded;

-- One row per value of a quasi-identifier: the place that stands for its group on a step whose cells are
-- the same for all values of a group.
CREATE OR REPLACE VIEW bases AS
SELECT
    value,
    min(place) OVER (PARTITION BY own_step) AS place
FROM steps_of;

-- One row: the values that a hierarchy lacks, and the people who have them.
CREATE OR REPLACE VIEW outside AS
SELECT
    count(*) AS "values",
    coalesce(sum(people), 0)::BIGINT AS people
FROM steps_of
WHERE value IS NOT NULL AND own_form IS NULL;

-- One row per person: places and secrets. Nearly all differ, so that counting them would be in vain.
CREATE OR REPLACE VIEW single_people AS
SELECT
    place,
    secrets,
    1::BIGINT AS people
FROM coded;

-- One row: how many people differ, roughly.
{# different_people(qids=[1, 2], secrets=[1]), different_people(qids=[1], secrets=[]) #}
CREATE OR REPLACE VIEW different_people AS
SELECT approx_count_distinct(hash({{ qids | each("place_#", ", ") }}{{ secrets | each(", secrets_#") }})) AS people
FROM coded;

-- One row per person of `combinations`, or several who are alike: the numbers of the values, from which
-- those of their groups follow; the secrets; how many people.
{# tuples(qids=[1, 2]) #}
CREATE OR REPLACE VIEW tuples AS
SELECT
    {{ qids | each("steps_#.step_#_0 AS code_#,") }}
    secrets,
    combinations.people
FROM combinations
{{ qids | each("INNER JOIN steps_# ON combinations.place_# = steps_#.place_#") }};

-- One row per person of a sample of `tuples`, which does not depend on the order of rows.
{# sample_of_tuples(qids=[1, 2]) #}
CREATE OR REPLACE VIEW sample_of_tuples AS
SELECT *
FROM tuples
WHERE hash({{ qids | each("code_#", ", ") }}) % stride = 0;

-- One row per person of `tuples` who is in one of the rarest groups of a step of one quasi-identifier:
-- as many groups as have that many people together.
CREATE OR REPLACE VIEW rare_tuples AS
SELECT tuples.*
FROM tuples
SEMI JOIN (
    SELECT own_step AS cell
    FROM (
        SELECT
            own_step,
            sum(people) OVER (ORDER BY people, own_step) AS upto
        FROM (
            SELECT
                own_step,
                sum(people)::BIGINT AS people
            FROM steps_of
            GROUP BY own_step
        ) AS sized
    ) AS added
    WHERE upto <= most_people
) AS rarest ON own_code >> shift = rarest.cell;

-- One row: of a node and the sample, the classes by secrets, and those of one row.
{# classes_of_sample(qids=[1, 2]) #}
CREATE OR REPLACE VIEW classes_of_sample AS
SELECT
    count(*) AS classes,
    count(*) FILTER (WHERE size = 1) AS single
FROM (
    SELECT count(*) AS size
    FROM tuples
    GROUP BY {{ qids | each("code_# >> ?", ", ") }}, secrets
) AS counted;

-- One row per person of `tuples`: the group of each value at a node. `at` is how many bits its step
-- leaves out, which is one of the `parameters` of the statement, or known.
{# tuples_of_node(qids=[1, 2], parameters=True), tuples_of_node(qids=[1, 2], parameters=False) #}
CREATE OR REPLACE VIEW tuples_of_node AS
SELECT
    {{ qids | each("code_# >> ? AS step_#," if parameters else "code_# >> at_# AS step_#,") }}
    secrets,
    people
FROM tuples;

-- One row per different person: the group of each value at a node of these `steps`, and its place.
{# placed_tuples(steps=[2, 0]) #}
CREATE OR REPLACE VIEW placed_tuples AS
SELECT
    {% for s in steps %}
    steps_{{ loop.index }}.step_{{ loop.index }}_{{ s }} AS step_{{ loop.index }},
    combinations.place_{{ loop.index }},
    {% endfor %}
    combinations.people
FROM combinations
{% for _ in steps %}
INNER JOIN steps_{{ loop.index }} ON combinations.place_{{ loop.index }} = steps_{{ loop.index }}.place_{{ loop.index }}
{% endfor %};

-- One row per class of a node and combination of secrets, with numbers from which those of coarser
-- groups follow.
{# rolled_up(qids=[1, 2]) #}
CREATE OR REPLACE VIEW rolled_up AS
SELECT
    {{ qids | each("(code_# >> at_#) << at_# AS code_#,") }}
    secrets,
    sum(people)::BIGINT AS people
FROM tuples
GROUP BY ALL;

-- One row per quasi-identifier: the step of a node, a parameter of the statement.
{# heights(qids=[1, 2]) #}
CREATE OR REPLACE VIEW heights AS
SELECT
    unnest([{{ qids | join(", ") }}]) AS number,
    unnest([{{ qids | each("?", ", ") }}]) AS height;

-- One row per person: all of them in one class.
CREATE OR REPLACE VIEW one_class AS
SELECT
    1 AS part,
    secrets,
    people
FROM tuples;

-- No row: no class breaks a limit on a secret, because there is none.
CREATE OR REPLACE VIEW none_refused AS
SELECT 0 AS part
WHERE FALSE;

-- One row per class of records of which nothing is left: all cells are suppressed, and it breaks a
-- limit on no secret.
CREATE OR REPLACE VIEW nothing_left AS
SELECT DISTINCT done.part
FROM done
ANTI JOIN refused ON done.part = refused.part
WHERE each(step = -1);

-- One row per tuple of places, after the cells of one quasi-identifier are suppressed in all classes
-- that break a limit: its new class, and its steps, -1 where a cell is suppressed.
{# suppressed_cells(qids=[1, 2, 3], qid=2) #}
CREATE OR REPLACE VIEW suppressed_cells AS
SELECT
    dense_rank() OVER (ORDER BY {{ qids | each("step_#", ", ") }}) AS part,
    {{ qids | each("place_#,") }}
    {{ qids | each("step_#,") }}
    people
FROM (
    SELECT
        {{ qids | each("done.place_#,") }}
        {% for i in qids %}
        {{ "CASE WHEN refused.part IS NOT NULL THEN -1 ELSE" if i == qid }} done.step_{{ i }}{{ " END" if i == qid }} AS step_{{ i }},
        {% endfor %}
        done.people
    FROM done
    LEFT JOIN refused ON done.part = refused.part
) AS hiding;

-- One row: how many cells of each quasi-identifier are suppressed in records that are not.
CREATE OR REPLACE VIEW cells_suppressed AS
SELECT coalesce(sum(size) FILTER (WHERE step = -1 AND NOT suppressed), 0) AS step
FROM classes;

-- One row per class, with intervals that cover all classes at the same step: records at the same step
-- have the same cell. Suppressed classes do not count.
{# same_cells(qids=[1, 2]) #}
CREATE OR REPLACE VIEW same_cells AS
SELECT
    classes.part,
    classes.size,
    {% for i in qids %}
    steps_of_class.step_{{ i }},
    min(classes.low_{{ i }}) FILTER (WHERE NOT classes.suppressed) OVER (PARTITION BY steps_of_class.step_{{ i }}) AS low_{{ i }},
    max(classes.top_{{ i }}) FILTER (WHERE NOT classes.suppressed) OVER (PARTITION BY steps_of_class.step_{{ i }}) AS top_{{ i }},
    max(classes.high_{{ i }}) FILTER (WHERE NOT classes.suppressed) OVER (PARTITION BY steps_of_class.step_{{ i }}) AS high_{{ i }},
    {% endfor %}
    classes.suppressed
FROM classes
INNER JOIN (
    SELECT {{ qids | each("min(step_#) AS step_#,") }} part
    FROM done
    GROUP BY part
) AS steps_of_class ON classes.part = steps_of_class.part;

-- One row per group of a step and value of a quasi-identifier, of records whose cell is shown: how many
-- people have it.
{# shown_values(qid=1) #}
CREATE OR REPLACE VIEW shown_values AS
SELECT
    done.step_{{ qid }} AS part,
    done.place_{{ qid }},
    sum(people)::BIGINT AS people
FROM done
ANTI JOIN refused ON done.part = refused.part
WHERE done.step_{{ qid }} >= 0
GROUP BY ALL;

-- One row per group of a step whose cell is what the form gives.
{# labels(text=True), labels(text=False) #}
CREATE OR REPLACE VIEW labels AS
SELECT
    own_step AS part,
    min(own_form){{ "::VARCHAR" if text }} AS cell
FROM steps_of
GROUP BY own_step;

-- One row: how many values the sets of all records that are shown would list.
CREATE OR REPLACE VIEW listed_values AS
SELECT coalesce(sum(classes.size::HUGEINT * sets."values"), 0)::HUGEINT AS "values"
FROM classes
INNER JOIN sets ON classes.own_step = sets.part
WHERE NOT classes.suppressed;

-- One row per group of a step: the ends of its interval by definition, which hold of every value that
-- may occur; NULL on a side where a value of the group is beyond a limit. A group with values beyond
-- limits on both sides ends at the values that there are. `bounds` are what is
-- measured of a value, the first and the last value of its interval, and the limits.
{# nominal_ends(tops=[1], bottoms=[1]), nominal_ends(tops=[], bottoms=[]), nominal_ends(tops=[1, 2], bottoms=[]) #}
CREATE OR REPLACE VIEW nominal_ends AS
SELECT
    part,
    {% if bottoms %}
    CASE
        {% if tops %}
        WHEN bool_or(is_below) AND bool_or(is_above) THEN min(measured)
        {% endif %}
        WHEN bool_or(is_below) THEN NULL
        ELSE min(first_value)
    END AS lower,
    {% else %}
    min(first_value) AS lower,
    {% endif %}
    {% if tops %}
    CASE
        {% if bottoms %}
        WHEN bool_or(is_above) AND bool_or(is_below) THEN max(measured)
        {% endif %}
        WHEN bool_or(is_above) THEN NULL
        ELSE max(last_value)
    END AS upper
    {% else %}
    max(last_value) AS upper
    {% endif %}
FROM (
    SELECT
        own_step AS part,
        bounds.measured AS measured,
        least(bounds.first{{ tops | each(", CASE WHEN bounds.measured >= bounds.top_# THEN bounds.top_# END", "") }}) AS first_value,
        greatest(bounds.last{{ bottoms | each(", CASE WHEN bounds.measured <= bounds.bottom_# THEN bounds.bottom_# END", "") }}) AS last_value,
        {{ tops | each("bounds.measured >= bounds.top_#", " OR ") or "FALSE" }} AS is_above,
        {{ bottoms | each("bounds.measured <= bounds.bottom_#", " OR ") or "FALSE" }} AS is_below
    FROM steps_of AS source
) AS placed
GROUP BY part;
