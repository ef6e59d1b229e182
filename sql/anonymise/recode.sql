-- Global recoding: each step of a quasi-identifier merges its values into groups. In which group is a
-- value on each step, which people are alike at a node, and how are their cells written?

-- One row per value of a quasi-identifier: the number of its group on every step. A step that merges
-- has a form, an expression over the value; `formed` has its results.
{# steps(qid=1, height=2), steps(qid=1, height=0) #}
CREATE OR REPLACE VIEW steps AS
SELECT
    value,
    people,
    {{ range(1, height + 1) | each("form_#,") }}
    {% for s in range(1, height + 1) %}
    dense_rank() OVER (ORDER BY form_{{ s }})::INTEGER AS step_{{ qid }}_{{ s }},
    {% endfor %}
    place AS place_{{ qid }}
FROM formed;

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

-- One row per value: its groups on two steps, one after the other.
CREATE OR REPLACE VIEW two_steps AS
SELECT
    own_finer AS finer,
    own_coarser AS coarser
FROM steps_of;

-- One row per different person: for each quasi-identifier the list of the groups of the value, on
-- every step from the value itself on; the secrets; how many people. `heights` are the last steps.
{# tuples(heights=[2, 0]) #}
CREATE OR REPLACE VIEW tuples AS
SELECT
    {% for height in heights %}
    {% set i = loop.index %}
    [combinations.place_{{ i }}{% for s in range(1, height + 1) %}, steps_{{ i }}.step_{{ i }}_{{ s }}{% endfor %}] AS steps_{{ i }},
    {% endfor %}
    secrets,
    combinations.people
FROM combinations
{% for _ in heights %}
INNER JOIN steps_{{ loop.index }} ON combinations.place_{{ loop.index }} = steps_{{ loop.index }}.place_{{ loop.index }}
{% endfor %};

-- One row per person of `tuples`: the group of each value at a node. `at` is its step, from 1, which is
-- one of the `parameters` of the statement, or known.
{# tuples_of_node(qids=[1, 2], parameters=True), tuples_of_node(qids=[1, 2], parameters=False) #}
CREATE OR REPLACE VIEW tuples_of_node AS
SELECT
    {{ qids | each("list_extract(steps_#, ?) AS step_#," if parameters else "list_extract(steps_#, at_#) AS step_#,") }}
    secrets,
    people
FROM tuples;

-- One row per person of `tuples`: the group of each value at a node, and the place of the value.
{# placed_tuples(qids=[1, 2]) #}
CREATE OR REPLACE VIEW placed_tuples AS
SELECT
    {{ qids | each("list_extract(steps_#, at_#) AS step_#,") }}
    {{ qids | each("list_extract(steps_#, 1) AS place_#,") }}
    people
FROM tuples;

-- One row per class of a node and combination of secrets, with the groups of its people on every step:
-- on those from the node on all of them are alike.
{# rolled_up(qids=[1, 2]) #}
CREATE OR REPLACE VIEW rolled_up AS
SELECT
    {{ qids | each("any_value(steps_#) AS steps_#,") }}
    secrets,
    sum(people)::BIGINT AS people
FROM tuples
GROUP BY {{ qids | each("list_extract(steps_#, at_#)", ", ") }}, secrets;

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
