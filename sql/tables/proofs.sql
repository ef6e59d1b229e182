-- Proofs from the bounds of margins: lines, which are combinations that hold somebody for sure; people
-- whose secret is proved; how often the best guess is right.

-- One row per cell of a margin that holds somebody for sure.
{# lines_of_margin(scope=[1, 3]), lines_of_margin(scope=[]) #}
CREATE OR REPLACE VIEW lines_of_margin AS
SELECT
    component,
    {{ scope | each("place_#,") }}
    lower,
    upper
FROM cells
WHERE lower > 0;

-- No row: no combination is known to hold somebody.
{# no_lines(scope=[1, 3]) #}
CREATE OR REPLACE VIEW no_lines AS
SELECT
    0 AS component,
    {{ scope | each("0 AS place_#,") }}
    0 AS lower,
    0 AS upper
WHERE FALSE;

-- One row per cell of a table: its bounds, and how many others there may be at most with the same
-- values of the attributes that it shares with the tables before.
{# beside(edge=[1, 2], shared=[1]), beside(edge=[1, 2], shared=[]) #}
CREATE OR REPLACE VIEW beside AS
SELECT
    {{ edge | each("cells.place_#,") }}
    cells.lower,
    cells.upper,
    least(
        margins.upper - cells.lower,
        (sum(cells.upper) OVER ({{ shared | partition_by("cells.place") }}) - cells.upper)::BIGINT
    ) AS others
FROM cells
INNER JOIN margins {{ shared | using("place") }};

-- One row per combination of the attributes of an order of tables that holds somebody for sure. It
-- holds at least what it held in the tables before, less what the next table may have beside it. A
-- table all of whose attributes occur before (`known`) has nothing beside. `edges` are the attributes
-- so far, `shared` those that the next table has in common with them.
{# chained(edges=[[1, 2], [1, 2, 3]], shared=[[], [2]], known=[False, False]) #}
CREATE OR REPLACE VIEW chained AS
WITH lines_0 AS (
    SELECT component, {{ edges[0] | each("place_#,") }} lower, upper
    FROM table_0
    WHERE lower > 0
)
{% for edge in edges[1:] %}
{% set n = loop.index %}
, lines_{{ n }} AS (
    SELECT
        before.component,
        {{ edge | each("place_#,") }}
        before.lower - {{ 0 if known[n] else "step.others" }} AS lower,
        least(before.upper, step.upper) AS upper
    FROM lines_{{ n - 1 }} AS before
    INNER JOIN table_{{ n }} AS step {{ shared[n] | using("place") }}
    WHERE before.lower - {{ 0 if known[n] else "step.others" }} > 0
)
{% endfor %}
SELECT * FROM lines_{{ edges | length - 1 }};

-- One row per component: all people, in the one cell that there is.
CREATE OR REPLACE VIEW totals AS
SELECT component, lower, upper
FROM cells;

-- One row per combination of attributes that holds somebody for sure, with the narrowest bounds of all
-- orders of tables. Attributes that no table has (`alone`) have one value.
{# lines(scope=[1, 3], alone=[4], orders=2), lines(scope=[], alone=[], orders=1) #}
CREATE OR REPLACE VIEW lines AS
SELECT
    component,
    {{ scope | each("place_#,") }}
    {{ alone | each("1 AS place_#,") }}
    max(lower) AS lower,
    min(upper) AS upper
FROM (
    {% for n in range(orders) %}
    {{ "UNION ALL" if n }} SELECT component, {{ scope | each("place_#,") }} lower, upper FROM order_{{ n }}
    {% endfor %}
) AS every_order
GROUP BY ALL;

-- One row per cell of a margin, whose lower bound is at least what a line proves.
{# lifted(edge=[1, 3]) #}
CREATE OR REPLACE VIEW lifted AS
SELECT
    {{ edge | each("place_#,") }}
    cells.cell,
    cells.component,
    greatest(cells.lower, coalesce(proved.lower, 0)) AS lower,
    cells.upper
FROM cells
LEFT JOIN proved {{ edge | using("place") }};

-- One row: the sum of all lower bounds of a margin.
CREATE OR REPLACE VIEW proved_people AS
SELECT sum(lower) AS people
FROM cells;

-- One row per combination of what the adversary knows that holds somebody for sure: by lines of these
-- attributes, and by those with the secret, which are added.
{# block_lines(knowledge=[1, 3]), block_lines(knowledge=[]) #}
CREATE OR REPLACE VIEW block_lines AS
SELECT
    component,
    {{ knowledge | each("place_#,") }}
    max(lower)::BIGINT AS lower,
    min(upper)::BIGINT AS upper
FROM (
    SELECT component, {{ knowledge | each("place_#,") }} lower, upper FROM lines_alone
    UNION ALL
    SELECT component, {{ knowledge | each("place_#,") }} sum(lower) AS lower, all_people AS upper
    FROM lines
    GROUP BY ALL
) AS both_ways
GROUP BY ALL;

-- One row per combination of what the adversary knows that holds somebody for sure, where one value of
-- the secret is possible: how many people. `margins` exclude values: their attributes, and those by
-- which they are joined.
{# sure(knowledge=[1, 3], margins=[[[1, 2], [1]], [[2, 3], [2, 3]]]), sure(knowledge=[1], margins=[]) #}
CREATE OR REPLACE VIEW sure AS
SELECT
    component,
    {{ knowledge | each("place_#,") }}
    max(lower)::BIGINT AS people
FROM (SELECT component, {{ knowledge | each("place_#,") }} lower FROM block_lines) AS candidates
{% for edge, shared in margins %}
INNER JOIN (
    SELECT {{ edge | each("place_#", ", ") }} FROM margin_{{ loop.index0 }} WHERE upper > 0
) AS possible_{{ loop.index0 }} {{ shared | using("place") }}
{% endfor %}
GROUP BY ALL
HAVING count(*) = 1;

-- No row: nobody's secret is proved, because no margin excludes a value of it.
{# nobody_sure(knowledge=[1, 3]) #}
CREATE OR REPLACE VIEW nobody_sure AS
SELECT
    component,
    {{ knowledge | each("place_#,") }}
    lower AS people
FROM block_lines
WHERE FALSE;

-- One row per cell of what the adversary knows: of how many people in it the best guess is right, at
-- least and at most. Without a secret (`owners`) one of each combination is named. With a secret, it
-- is at least an even share, and the largest block says more where `blocks` are there. `inside` are
-- finer cells for which this is known; they say what is highest where all possible ones are there.
{# bracket(outer=[1], owners=True, complete=True, blocks=False, inside=[True, False]), bracket(outer=[], owners=False, complete=True, blocks=True, inside=[]) #}
CREATE OR REPLACE VIEW bracket AS
SELECT
    any_value(component) AS component,
    {{ outer | each("place_#,") }}
    max(lowest) AS lowest,
    min(highest) AS highest
FROM (
    SELECT
        component,
        {{ outer | each("place_#,") }}
        {% if owners %}
        (lower > 0)::BIGINT AS lowest,
        {{ "least(upper, 1)" if complete else "upper" }} AS highest
        {% else %}
        ceil(lower / secret_values)::BIGINT AS lowest,
        upper AS highest
        {% endif %}
    FROM cells
    {% if blocks %}
    UNION ALL
    SELECT
        cells.component,
        {{ outer | each("cells.place_#,") }}
        greatest(blocks.most, ceil(cells.lower / greatest(blocks.possible, 1)))::BIGINT AS lowest,
        {{ "least(blocks.largest, cells.upper)" if complete else "cells.upper" }} AS highest
    FROM cells
    INNER JOIN (
        SELECT
            {{ outer | each("place_#,") }}
            max(lower) AS most,
            max(upper) AS largest,
            count(*) FILTER (WHERE upper > 0) AS possible
        FROM cells_with_secret
        GROUP BY ALL
    ) AS blocks {{ outer | using("place") }}
    {% endif %}
    {% for is_complete in inside %}
    UNION ALL
    SELECT
        any_value(component) AS component,
        {{ outer | each("place_#,") }}
        sum(lowest)::BIGINT AS lowest,
        {{ "sum(highest)" if is_complete else "NULL" }}::BIGINT AS highest
    FROM inside_{{ loop.index0 }}
    GROUP BY ALL
    {% endfor %}
) AS bounds
GROUP BY ALL;

-- One row per component: how many combinations of all attributes may hold somebody.
CREATE OR REPLACE VIEW possible_cells AS
SELECT
    component,
    count(*) FILTER (WHERE upper > 0) AS cells
FROM margin
GROUP BY component;

-- One row per combination of a clique of attributes that no margin inside excludes. `margins` are
-- their attributes, and those that they share with the margins before. A combination counts as one of
-- the `cells`, or has the widest bounds, where it is asked for.
{# clique(edge=[1, 2, 3], margins=[[[1, 2], []], [[2, 3], [2]]], counting=False, bounded=True), clique(edge=[1], margins=[[[1], []]], counting=True, bounded=False) #}
CREATE OR REPLACE VIEW clique AS
SELECT
    {{ edge | each("place_#,") }}
    {{ "1::HUGEINT AS cells," if counting }}
    {{ "0 AS lower, all_people AS upper," if bounded }}
    inside_0.component
FROM
    {% for members, shared in margins %}
    {{ "INNER JOIN" if loop.index0 }} (
        SELECT {{ members | each("place_#,") }} component FROM margin_{{ loop.index0 }} WHERE upper > 0
    ) AS inside_{{ loop.index0 }} {{ shared | using("place") if loop.index0 }}
    {% endfor %};

-- One row per combination of a clique: how many combinations of it and the cliques behind it there are.
{# counted_behind(edge=[1, 2], shared=[2]), counted_behind(edge=[1, 2], shared=[]) #}
CREATE OR REPLACE VIEW counted_behind AS
SELECT
    {{ edge | each("place_#,") }}
    component,
    (clique.cells * behind.cells)::HUGEINT AS cells
FROM clique
INNER JOIN (
    SELECT {{ shared | each("place_#,") }} sum(cells)::HUGEINT AS cells
    FROM next_clique
    GROUP BY ALL
) AS behind {{ shared | using("place") }};

-- One row per component: how many combinations of all attributes may hold somebody, if each is
-- repeated for every value of the attributes that no table has.
CREATE OR REPLACE VIEW counted_cells AS
SELECT
    component,
    (sum(cells) * repetitions)::HUGEINT AS cells
FROM clique
GROUP BY component;
