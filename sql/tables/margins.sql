-- Margins of a set of published tables: what each of their cells may be. A margin is a set of
-- attributes, a cell of it has a place for each, and `lower` and `upper`, the bounds of its count.

-- One row per combination of some attributes of a published table that no zero of it excludes.
{# not_excluded(edge=[1, 3]) #}
CREATE OR REPLACE VIEW not_excluded AS
SELECT DISTINCT {{ edge | each("place_#", ", ") }}
FROM cells
WHERE upper > 0;

-- One row per value of an attribute.
{# values_of(attribute=2) #}
CREATE OR REPLACE VIEW values_of AS
SELECT code AS place_{{ attribute }}
FROM values_{{ attribute }};

-- One row per combination of attributes that all parts allow. A part is a table of combinations of
-- some of the attributes; `shared` has what each part has in common with the parts before it.
{# possible(edge=[1, 2, 3], shared=[[], [2]]), possible(edge=[1, 2], shared=[[], []]) #}
CREATE OR REPLACE VIEW possible AS
SELECT {{ edge | each("place_#", ", ") }}
FROM part_0
{% for common in shared[1:] %}
INNER JOIN part_{{ loop.index }} {{ common | using("place") }}
{% endfor %};

-- One row: all people, where no attributes tell them apart.
CREATE OR REPLACE VIEW nothing AS
SELECT 1 AS people;

-- One row per cell of a published table that counts somebody though its combination is impossible.
{# impossible(edge=[1, 3]), impossible(edge=[]) #}
CREATE OR REPLACE VIEW impossible AS
SELECT
    {{ edge | each("place_#,") }}
    lower
FROM cells
ANTI JOIN possible {{ edge | using("place") }}
WHERE lower > 0;

-- One row per cell of a published table that may have people: those that it lists, and all others
-- that are possible, which have at most `unlisted` people each.
{# with_unlisted(edge=[1, 3]), with_unlisted(edge=[]) #}
CREATE OR REPLACE VIEW with_unlisted AS
SELECT *
FROM (
    SELECT {{ edge | each("place_#,") }} lower, upper FROM cells
    UNION ALL
    SELECT {{ edge | each("place_#,") }} 0 AS lower, unlisted AS upper
    FROM possible
    ANTI JOIN cells {{ edge | using("place") }}
) AS listed;

-- One row: all people, in the one cell of the margin without attributes.
CREATE OR REPLACE VIEW everybody AS
SELECT
    (1 + earlier_cells)::BIGINT AS cell,
    0 AS component,
    all_people::BIGINT AS lower,
    all_people::BIGINT AS upper;

-- One row per cell of a margin that a source knows: its number, its component, its first bounds. A
-- source has cells of the margin itself (`own`), or finer ones with exact counts, which are added; a
-- cell that it lacks is empty. `finer` are the tables whose cells lie in those of the margin.
-- Components are the values of the attributes that all tables have.
{# first_cells(edge=[1, 3], shared=[1], own=[True, False], finer=2, shares_all=False) #}
CREATE OR REPLACE VIEW first_cells AS
SELECT
    {{ edge | each("cells.place_#,") }}
    row_number() OVER () + earlier_cells AS cell,
    {% if shares_all %}
    row_number() OVER () + earlier_cells AS component,
    {% else %}
    {{ "components.component" if shared else "0 AS component" }},
    {% endif %}
    greatest({% for _ in own %}coalesce(source_{{ loop.index0 }}.lower, 0), {% endfor %}0)::BIGINT AS lower,
    least({% for _ in own %}coalesce(source_{{ loop.index0 }}.upper, 0), {% endfor %}all_people)::BIGINT AS upper
FROM (
    {% for n in range(finer) %}
    {{ "UNION" if n }} SELECT DISTINCT {{ edge | each("place_#", ", ") }} FROM finer_{{ n }}
    {% endfor %}
) AS cells
{% for is_own in own %}
LEFT JOIN
    {% if is_own %}
    source_{{ loop.index0 }}
    {% else %}
    (
        SELECT {{ edge | each("place_#,") }} sum(lower)::BIGINT AS lower, sum(lower)::BIGINT AS upper
        FROM source_{{ loop.index0 }}
        GROUP BY ALL
    ) AS source_{{ loop.index0 }}
    {% endif %}
    {{ edge | using("place") }}
{% endfor %}
{% if shared and not shares_all %}
INNER JOIN components {{ shared | using("place") }}
{% endif %};

-- One row per cell of a margin whose bounds leave no count.
CREATE OR REPLACE VIEW contradictions AS
SELECT DISTINCT component
FROM cells
WHERE lower > upper;

-- One row per cell of any margin.
{# all_cells(margins=2) #}
CREATE OR REPLACE VIEW all_cells AS
SELECT *
FROM (
    {% for n in range(margins) %}
    {{ "UNION ALL" if n }} SELECT cell, component, lower, upper FROM margin_{{ n }}
    {% endfor %}
) AS cells;

-- One row per pair of a cell of a margin and a cell of a finer margin that lies in it. `pairs` has
-- the numbers of both margins, the coarser one first, and the attributes of the coarser one.
{# inner_cells(pairs=[[0, 1, [2]], [0, 2, []]]), inner_cells(pairs=[]) #}
CREATE OR REPLACE VIEW inner_cells AS
SELECT *
FROM (
    {% for outer, inner, edge in pairs %}
    {{ "UNION ALL" if loop.index0 }}
    SELECT
        parents.cell AS parent,
        children.cell AS child,
        parents.component,
        {{ loop.index0 }} AS node
    FROM margin_{{ outer }} AS parents
    LEFT JOIN margin_{{ inner }} AS children {{ edge | using("place") }}
    {% else %}
    SELECT 0 AS parent, 0 AS child, 0 AS component, 0 AS node WHERE FALSE
    {% endfor %}
) AS edges;

-- One row per cell of any margin, with its bounds after propagation. `rounds` are the tables of the
-- cells that were settled in each round.
{# last_bounds(rounds=2) #}
CREATE OR REPLACE VIEW last_bounds AS
SELECT *
FROM (
    {% for n in range(rounds) %}
    {{ "UNION ALL" if n }} SELECT cell, lower, upper FROM settled_{{ n }}
    {% endfor %}
) AS cells;

-- One row per cell of a margin, with its bounds after propagation.
{# bounded(edge=[1, 3]), bounded(edge=[]) #}
CREATE OR REPLACE VIEW bounded AS
SELECT
    {{ edge | each("place_#,") }}
    cell,
    component,
    bounds.lower,
    bounds.upper
FROM cells
INNER JOIN bounds USING (cell);
