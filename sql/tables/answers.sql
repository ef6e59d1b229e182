-- Answers about a set of published tables: what is proved of components and people, how often guesses
-- are right, which cells are small, hidden or disclosed.

-- One row per component: what is proved of it, for a question. `has_secret`: a secret is asked for;
-- `is_counted`: possible cells are not too many to count.
{# component_proofs(shared=[1], has_secret=True, is_counted=True), component_proofs(shared=[], has_secret=False, is_counted=False) #}
CREATE OR REPLACE VIEW component_proofs AS
SELECT
    totals.component,
    {{ shared | each("totals.place_#,") }}
    totals.upper AS people,
    coalesce(line_counts.reconstructed, 0) AS reconstructed,
    coalesce(line_counts.ones, 0) AS ones,
    coalesce(line_counts.lines, 0) AS lines,
    coalesce(block_counts.singled_out, 0) AS singled_out,
    {{ "coalesce(sure_people.certain, 0)" if has_secret else 0 }} AS certain,
    coalesce(ends.lowest, 0) AS lowest,
    coalesce(ends.highest, 0) AS highest,
    {{ "coalesce(supports.support, 0)" if is_counted else 0 }} AS support
FROM totals
LEFT JOIN (
    SELECT
        component,
        sum(lower) FILTER (WHERE lower = upper) AS reconstructed,
        count(*) FILTER (WHERE lower = upper AND lower = 1) AS ones,
        count(*) FILTER (WHERE lower = upper) AS lines
    FROM all_lines
    GROUP BY component
) AS line_counts USING (component)
LEFT JOIN (
    SELECT component, count(*) FILTER (WHERE lower = 1 AND upper = 1) AS singled_out
    FROM block_lines
    GROUP BY component
) AS block_counts USING (component)
LEFT JOIN (
    SELECT component, max(lowest) AS lowest, min(highest) AS highest
    FROM brackets
    GROUP BY component
) AS ends USING (component)
{% if has_secret %}
LEFT JOIN (
    SELECT component, sum(people) AS certain FROM sure GROUP BY component
) AS sure_people USING (component)
{% endif %}
{% if is_counted %}
LEFT JOIN (
    SELECT component, sum(cells) AS support FROM possible_cells GROUP BY component
) AS supports USING (component)
{% endif %};

-- One row: what is proved of all components together, and how many brackets are not settled.
CREATE OR REPLACE VIEW proved_totals AS
SELECT
    coalesce(sum(reconstructed)::BIGINT, 0) AS reconstructed,
    coalesce(sum(ones)::BIGINT, 0) AS ones,
    coalesce(sum(lines)::BIGINT, 0) AS lines,
    coalesce(sum(singled_out)::BIGINT, 0) AS singled_out,
    coalesce(sum(certain)::BIGINT, 0) AS certain,
    coalesce(sum(lowest)::BIGINT, 0) AS lowest,
    coalesce(sum(highest)::BIGINT, 0) AS highest,
    coalesce(sum(support)::HUGEINT, 0) AS support,
    count(*) FILTER (WHERE lines = support) AS proved,
    count(*) FILTER (WHERE lowest < highest) AS open_brackets
FROM component_proofs;

-- One row per combination that occurs among the records, with its component and people.
{# component_people(edge=[1, 3], shared=[1]), component_people(edge=[1], shared=[]) #}
CREATE OR REPLACE VIEW component_people AS
SELECT component, people{{ edge | each(", place_#", "") }}
FROM truth
INNER JOIN totals {{ shared | using("place") }};

-- One row per number of best values that are as good, and group of people: those whose value is one of
-- them. `group` is the attribute of the groups, if there are any.
{# fitted_rights(edge=[1, 3], group=[2]), fitted_rights(edge=[1], group=[]) #}
CREATE OR REPLACE VIEW fitted_rights AS
SELECT
    {{ group | each("truth.place_#,") }}
    best.ties,
    sum(truth.people)::BIGINT AS people
FROM truth
INNER JOIN best {{ edge | using("place") }}
GROUP BY ALL;

-- One row: how many people the best guesses are expected to get right, in parts of one.
{# believed_people(knowledge=[1]), believed_people(knowledge=[]) #}
CREATE OR REPLACE VIEW believed_people AS
SELECT sum(floor(best * parts_of_one)::HUGEINT)::HUGEINT AS believed
FROM (
    SELECT component, {{ knowledge | each("place_#,") }} max(best) AS best
    FROM best_guesses
    GROUP BY ALL
) AS first;

-- One row per combination of a component that may hold somebody: its bounds, from the margins
-- `edges` and from what is proved, and its people.
{# component_cells(every=[1, 2], edges=[[1, 2], [1, 2]], has_records=True), component_cells(every=[1], edges=[[1]], has_records=False) #}
CREATE OR REPLACE VIEW component_cells AS
SELECT
    cells.component,
    {{ every | each("cells.place_#,") }}
    coalesce(proved.lower, 0)::BIGINT AS lower,
    least({% for _ in edges %}margin_{{ loop.index0 }}.upper, {% endfor %}proved.upper)::BIGINT AS upper,
    {{ "coalesce(truth.people, 0)" if has_records else "NULL" }}::BIGINT AS people
FROM cells
{% for edge in edges %}
INNER JOIN margin_{{ loop.index0 }} {{ edge | using("place") }}
{% endfor %}
LEFT JOIN proved {{ every | using("place") }}
{% if has_records %}
LEFT JOIN truth {{ every | using("place") }}
{% endif %};

-- One row: the cells of a published table that are hidden, and that show a small count.
CREATE OR REPLACE VIEW cell_checks AS
SELECT
    count(*) AS cells,
    count(*) FILTER (WHERE hidden) AS hidden,
    count(*) FILTER (WHERE published BETWEEN 1 AND small_limit - 1) AS small,
    count(*) FILTER (WHERE published = 1) AS ones,
    count(*) FILTER (WHERE published = 2) AS twos
FROM cells;

-- One row per hidden cell of a published table: its bounds, NULL where no margin has it.
{# hidden_cells(edge=[1, 2]) #}
CREATE OR REPLACE VIEW hidden_cells AS
SELECT
    {{ edge | each("cells.place_#,") }}
    bounds.lower,
    bounds.upper
FROM cells
LEFT JOIN bounds {{ edge | using("place") }}
WHERE cells.hidden;

-- One row: the rows of a published table with a single cell that is not 0, and the people in them.
{# single_cells(edge=[1]) #}
CREATE OR REPLACE VIEW single_cells AS
SELECT
    count(*) AS rows,
    coalesce(sum(people), 0)::BIGINT AS people
FROM (
    SELECT {{ edge | each("place_#,") }} max(lower) AS people
    FROM cells
    WHERE upper > 0
    GROUP BY ALL
    HAVING count(*) = 1 AND max(lower) > 0
) AS blocks;

-- One row: in how many of the cells that two tables have in common no count is possible in both, and the
-- first line of each table.
{# disagreements(shared=[2]), disagreements(shared=[]) #}
CREATE OR REPLACE VIEW disagreements AS
SELECT
    count(*) AS cells,
    min(sums_one.line) AS line,
    min(sums_other.line) AS other_line
FROM
    {% for side in ("one", "other") %}
    {{ ("FULL JOIN" if shared else "CROSS JOIN") if loop.index0 }} (
        SELECT
            {{ shared | each("place_#,") }}
            min(line) AS line,
            sum(lower) AS lower,
            sum(upper) AS upper
        FROM cells_{{ side }}
        GROUP BY ALL
    ) AS sums_{{ side }} {{ shared | using("place") if shared and loop.index0 }}
    {% endfor %}
WHERE
    coalesce(sums_one.upper, unlisted_one) < coalesce(sums_other.lower, 0)
    OR coalesce(sums_other.upper, unlisted_other) < coalesce(sums_one.lower, 0);
