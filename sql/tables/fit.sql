-- Expected counts, and the best guess that they give. The cells of a clique are settled, or *open*: an
-- open cell has `loose` people, the product of the multipliers of its margins, cut to its interval.
-- People are added as whole numbers of parts (`parts_of_one`), so that no order matters.

-- One row per cell of a clique of exact tables: its count.
{# exact_counts(edge=[1, 2]) #}
CREATE OR REPLACE VIEW exact_counts AS
SELECT {{ edge | each("place_#,") }} component, upper::DOUBLE AS mean
FROM cells
WHERE upper > 0;

-- One row per open cell of a clique, before the first step.
CREATE OR REPLACE VIEW open_cells AS
SELECT *, 1.0::DOUBLE AS loose
FROM cells
WHERE lower < upper;

-- One row per cell of the margin that two cliques share: the people of settled cells in both, and the
-- product of the multipliers that both cliques have from it. Cells whose count is told are left out
-- where the margin has bounds.
{# seams(shared=[2], has_bounds=True), seams(shared=[], has_bounds=False) #}
CREATE OR REPLACE VIEW seams AS
SELECT
    {{ shared | each("cells_one.place_#,") }}
    cells_one.component,
    cells_one.settled AS settled_one,
    cells_other.settled AS settled_other,
    1.0::DOUBLE AS weight
FROM
    {% for side in ("one", "other") %}
    {{ "INNER JOIN" if loop.index0 }} (
        SELECT
            {{ shared | each("place_#,") }}
            any_value(component) AS component,
            sum(CASE WHEN lower = upper THEN lower ELSE 0 END)::DOUBLE AS settled
        FROM clique_{{ side }}
        GROUP BY ALL
    ) AS cells_{{ side }} {{ shared | using("place") if loop.index0 }}
    {% endfor %}
    {% if has_bounds %}
    SEMI JOIN (
        SELECT {{ shared | each("place_#,") }} lower FROM bounds WHERE lower < upper
    ) AS open_bounds {{ shared | using("place") }}
    {% endif %};

-- One row per cell of a margin inside a clique: its multiplier, and the interval of the people in its
-- open cells. An `exact` group has only cells whose count is told.
{# fit_groups(edge=[1], exact=True), fit_groups(edge=[], exact=False) #}
CREATE OR REPLACE VIEW fit_groups AS
SELECT
    {{ edge | each("cells.place_#,") }}
    cells.component,
    1.0::DOUBLE AS weight,
    greatest(bounds.lower - cells.settled, 0) AS least,
    greatest(bounds.upper - cells.settled, 0) AS most
FROM (
    SELECT
        {{ edge | each("place_#,") }}
        any_value(component) AS component,
        sum(CASE WHEN lower = upper THEN lower ELSE 0 END)::DOUBLE AS settled
    FROM clique
    GROUP BY ALL
) AS cells
INNER JOIN bounds {{ edge | using("place") }}
{{ "WHERE bounds.lower = bounds.upper" if exact }};

-- One row per cell of a group: its people, those without its multiplier, and the ratios between which
-- no open cell is cut to its interval.
{# group_people(edge=[1]), group_people(edge=[]) #}
CREATE OR REPLACE VIEW group_people AS
SELECT
    {{ edge | each("groups.place_#,") }}
    groups.component,
    groups.weight,
    groups.least,
    groups.most,
    sum((greatest(least(loose, upper), lower) * parts_of_one)::HUGEINT)::DOUBLE / parts_of_one AS people,
    sum((greatest(least(loose / weight, upper), lower) * parts_of_one)::HUGEINT)::DOUBLE
    / parts_of_one AS without,
    max(lower / loose) AS least_ratio,
    min(upper / loose) AS greatest_ratio
FROM groups
INNER JOIN (
    SELECT {{ edge | each("place_#,") }} lower, upper, loose FROM open_cells
) AS cells {{ edge | using("place") }}
GROUP BY ALL;

-- One row per cell of a group, with the people that it should have, and whether one ratio of all its
-- open cells gives them.
CREATE OR REPLACE VIEW group_targets AS
SELECT
    *,
    greatest(least(without, most), least) AS target,
    target / people AS plain_ratio,
    coalesce(
        1 BETWEEN least_ratio AND greatest_ratio
        AND plain_ratio BETWEEN least_ratio AND greatest_ratio,
        FALSE
    ) AS is_plain
FROM group_people;

-- One row per cell of a group of which some open cells are cut to their intervals.
CREATE OR REPLACE VIEW cut_targets AS
SELECT * FROM group_targets WHERE NOT is_plain;

-- One row per end of the interval of an open cell: the ratio of its multiplier at which it gets there,
-- and what it adds there to the slope and to the fixed part of the people.
{# interval_ends(edge=[1]), interval_ends(edge=[]) #}
CREATE OR REPLACE VIEW interval_ends AS
SELECT
    {{ edge | each("place_#,") }}
    target,
    event.at AS at,
    (event.slope * parts_of_one)::HUGEINT AS slope,
    (event.fixed * parts_of_one)::HUGEINT AS fixed
FROM (
    SELECT
        {{ edge | each("cells.place_#,") }}
        target,
        unnest([
            {'at': 0::DOUBLE, 'slope': 0::DOUBLE, 'fixed': cells.lower::DOUBLE},
            {'at': cells.lower / cells.loose, 'slope': cells.loose, 'fixed': -cells.lower::DOUBLE},
            {'at': cells.upper / cells.loose, 'slope': -cells.loose, 'fixed': cells.upper::DOUBLE}
        ]) AS event
    FROM open_cells AS cells
    INNER JOIN targets {{ edge | using("place") }}
) AS ends;

-- One row per ratio at which some cells reach an end.
{# ratio_changes(edge=[1]), ratio_changes(edge=[]) #}
CREATE OR REPLACE VIEW ratio_changes AS
SELECT
    {{ edge | each("place_#,") }}
    at,
    any_value(target) AS target,
    sum(slope) AS slope,
    sum(fixed) AS fixed
FROM interval_ends
GROUP BY ALL;

-- One row per ratio at which some cells reach an end: the people beyond it, as a line.
{# ratio_lines(edge=[1]), ratio_lines(edge=[]) #}
CREATE OR REPLACE VIEW ratio_lines AS
SELECT
    {{ edge | each("place_#,") }}
    target,
    at,
    lead(at) OVER ({{ edge | partition_by("place") }} ORDER BY at) AS next,
    sum(slope) OVER ({{ edge | partition_by("place") }} ORDER BY at)::DOUBLE / parts_of_one AS slope,
    sum(fixed) OVER ({{ edge | partition_by("place") }} ORDER BY at)::DOUBLE / parts_of_one AS fixed
FROM ratio_changes;

-- One row per cell of a margin: the smallest and the largest ratio with which its target is held.
{# ratios(edge=[1]), ratios(edge=[]) #}
CREATE OR REPLACE VIEW ratios AS
SELECT
    {{ edge | each("place_#,") }}
    arg_max(
        at + CASE
            WHEN slope > 0
                THEN least(greatest(target - fixed - slope * at, 0) / slope, coalesce(next - at, 0))
            ELSE 0
        END,
        at
    ) FILTER (WHERE fixed + slope * at < target * (1 - 1e-13) OR at = 0) AS low,
    arg_max(
        CASE
            WHEN slope > 0
                THEN at + least(greatest(target - fixed - slope * at, 0) / slope, coalesce(next - at, 0))
            ELSE coalesce(next, at)
        END,
        at
    ) FILTER (WHERE fixed + slope * at <= target * (1 + 1e-13) OR at = 0) AS high
FROM ratio_lines
GROUP BY ALL;

-- One row per cell of a group after a step: the ratio of its multipliers is 1 over the multiplier
-- where its interval holds without one.
{# moved_groups(edge=[1]), moved_groups(edge=[]) #}
CREATE OR REPLACE VIEW moved_groups AS
SELECT
    {{ edge | each("targets.place_#,") }}
    targets.component,
    least,
    most,
    abs(targets.target - people) AS moved,
    CASE
        WHEN target = without THEN 1 / weight
        WHEN is_plain THEN greatest(plain_ratio, 1e-3)
        ELSE coalesce(greatest(ratios.high, 1e-3), 1)
    END AS ratio,
    weight * ratio AS weight
FROM targets
LEFT JOIN ratios {{ edge | using("place") }};

-- One row per cell of a seam, with its open people in both cliques: they are lines near where they are,
-- within their intervals.
{# seam_people(shared=[2]), seam_people(shared=[]) #}
CREATE OR REPLACE VIEW seam_people AS
SELECT
    {{ shared | each("seams.place_#,") }}
    {% for side in ("one", "other") %}
    coalesce(open_{{ side }}.people, 0) AS people_{{ side }},
    coalesce(open_{{ side }}.slope, 0) AS slope_{{ side }},
    coalesce(open_{{ side }}.bottom, 0) AS least_{{ side }},
    coalesce(open_{{ side }}.most, 0) AS most_{{ side }},
    seams.settled_{{ side }},
    {% endfor %}
    seams.weight,
    seams.component
FROM seams
{% for side in ("one", "other") %}
LEFT JOIN (
    SELECT
        {{ shared | each("place_#,") }}
        sum((greatest(least(loose, upper), lower) * parts_of_one)::HUGEINT)::DOUBLE / parts_of_one AS people,
        sum((CASE WHEN loose > lower AND loose < upper THEN loose ELSE 0 END * parts_of_one)::HUGEINT)::DOUBLE
        / parts_of_one AS slope,
        sum((lower * parts_of_one)::HUGEINT)::DOUBLE / parts_of_one AS bottom,
        sum((upper * parts_of_one)::HUGEINT)::DOUBLE / parts_of_one AS most
    FROM clique_{{ side }}
    GROUP BY ALL
) AS open_{{ side }} {{ shared | using("place") }}
{% endfor %};

-- One row per cell of a seam: `y`, the people that both cliques should have. With f(u) = g(v) = y and
-- weight u v = y, where y - a = r u and y - b = s v, it is the root of an equation, within the
-- intervals. Only a ratio of 0 reaches the floor.
CREATE OR REPLACE VIEW seam_solution AS
SELECT
    *,
    settled_one + people_one - slope_one AS a,
    settled_other + people_other - slope_other AS b,
    a + b + slope_one * slope_other / weight AS added,
    (added + sqrt(greatest(added * added - 4 * a * b, 0))) / 2 AS root,
    greatest(settled_one + least_one, settled_other + least_other) AS floor,
    greatest(settled_one + people_one, settled_other + people_other) AS now,
    floor + greatest(now - floor, 0) / 10 AS lowest,
    greatest(least(root, settled_one + most_one, settled_other + most_other), lowest) AS y
FROM seam_people;

-- One row per cell of a seam: the people that the open cells of one clique should have.
{# seam_targets(shared=[2]), seam_targets(shared=[]) #}
CREATE OR REPLACE VIEW seam_targets AS
SELECT {{ shared | each("place_#,") }} y - settled AS target
FROM seam_solution;

-- One row per cell of a seam after a step: the ratios of both cliques hold its people, and share the
-- product of its multipliers.
{# moved_seams(shared=[2]), moved_seams(shared=[]) #}
CREATE OR REPLACE VIEW moved_seams AS
SELECT
    *,
    greatest(least(1, high_one), low_one) AS start,
    greatest(least(weight / before / start, high_other), low_other) AS second,
    greatest(least(weight / before / second, high_one), low_one) AS first,
    CASE
        WHEN people_one = 0 OR people_other = 0 THEN 1
        ELSE sqrt(weight / before / first / second)
    END AS lack,
    first * lack AS ratio_one,
    second * lack AS ratio_other
FROM (
    SELECT
        {{ shared | each("solved.place_#,") }}
        solved.component,
        settled_one,
        settled_other,
        y AS weight,
        weight AS before,
        people_one,
        people_other,
        abs(y - settled_one - people_one) + abs(y - settled_other - people_other) AS moved,
        {% for side in ("one", "other") %}
        coalesce(ratios_{{ side }}.low, 1) AS low_{{ side }},
        coalesce(ratios_{{ side }}.high, 1) AS high_{{ side }}{{ "," if loop.first }}
        {% endfor %}
    FROM seam_solution AS solved
    LEFT JOIN ratios_one {{ shared | using("place") }}
    LEFT JOIN ratios_other {{ shared | using("place") }}
) AS solved;

-- One row per open cell of a clique, multiplied by the ratio of its cell in a margin.
{# scaled_cells(edge=[1]), scaled_cells(edge=[]) #}
CREATE OR REPLACE VIEW scaled_cells AS
SELECT cells.* REPLACE (greatest(least(cells.loose * coalesce(steps.ratio, 1), 1e20), 1e-60) AS loose)
FROM open_cells AS cells
LEFT JOIN steps {{ edge | using("place") }};

-- One row per component: the people that the last steps have moved, as a share of all.
{# component_moves(parts=2) #}
CREATE OR REPLACE VIEW component_moves AS
SELECT
    component,
    sum(every_part.moved) / max(totals.upper) AS moved
FROM (
    {% for n in range(parts) %}
    {{ "UNION ALL" if n }} SELECT component, sum(moved) AS moved FROM part_{{ n }} GROUP BY component
    {% endfor %}
) AS every_part
INNER JOIN totals USING (component)
GROUP BY component;

-- One row per cell of a clique: its expected count. `parts` are the tables of its open cells.
{# fitted_counts(edge=[1, 2], parts=1) #}
CREATE OR REPLACE VIEW fitted_counts AS
SELECT *
FROM (
    SELECT {{ edge | each("place_#,") }} component, lower::DOUBLE AS mean
    FROM cells
    WHERE lower = upper AND upper > 0
    {% for n in range(parts) %}
    UNION ALL
    SELECT {{ edge | each("place_#,") }} component, greatest(least(loose, upper), lower) AS mean
    FROM part_{{ n }}
    {% endfor %}
) AS counts;

-- One row per combination of what the best guess depends on: its expected count, the product of its
-- cliques over what they share. `cliques` are their attributes, and those that each shares with the
-- cliques before. Where the cliques have other attributes, too, rows are added.
{# expected_counts(edge=[1, 3], cliques=[[[1, 2], []], [[2, 3], [2]]], added=True), expected_counts(edge=[1], cliques=[[[1], []]], added=False) #}
CREATE OR REPLACE VIEW expected_counts AS
SELECT
    clique_0.component,
    {{ edge | each("place_#,") }}
    {{ "sum" if added }}(clique_0.mean{% for _ in cliques[1:] %} * share_{{ loop.index }}.mean{% endfor %}) AS mean
FROM clique_0
{% for members, shared in cliques[1:] %}
INNER JOIN (
    SELECT {{ members | each("cells.place_#,") }} cells.mean / margins.mean AS mean
    FROM clique_{{ loop.index }} AS cells
    INNER JOIN (
        SELECT {{ shared | each("place_#,") }} sum(mean) AS mean
        FROM clique_{{ loop.index }}
        GROUP BY ALL
    ) AS margins {{ shared | using("place") }}
) AS share_{{ loop.index }} {{ shared | using("place") }}
{% endfor %}
{{ "GROUP BY ALL" if added }};

-- One row per combination of what the adversary knows and best value of the secret: `best`, its
-- expected count, and `ties` of the values that are as good but for the rounding, which is larger
-- where expected counts are fitted.
{# best_guesses(edge=[1, 3], knowledge=[1], exact=True), best_guesses(edge=[3], knowledge=[], exact=False) #}
CREATE OR REPLACE VIEW best_guesses AS
SELECT
    component,
    {{ edge | each("place_#,") }}
    best,
    count(*) OVER ({{ knowledge | partition_by("place") }}) AS ties
FROM (
    SELECT *, max(mean) OVER ({{ knowledge | partition_by("place") }}) AS best
    FROM expected_counts
) AS every_value
WHERE mean >= best * {{ "0.999999999999" if exact else "0.9999999" }};
