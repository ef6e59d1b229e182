-- Which cuts are refused, because one side would not keep a limit on a secret; which classes stay, so
-- that by some of the quasi-identifiers alone every class has enough records?

-- One row per stratum and combination of secrets: how many people have it, all of them on one side.
CREATE OR REPLACE VIEW everybody AS
SELECT
    own_stratum AS part,
    FALSE AS side,
    secrets,
    count(*) AS people
FROM coded
GROUP BY part, secrets;

-- One row: how many strata there are, and how many of them have too few records or people.
{# strata(people=False), strata(people=True) #}
CREATE OR REPLACE VIEW strata AS
SELECT
    count(*) AS strata,
    count(*) FILTER (WHERE small) AS small
FROM (
    SELECT {{ "count(DISTINCT person)" if people else "count(*)" }} < wanted_k AS small
    FROM coded
    GROUP BY own_stratum
) AS counted;

-- One row per side of a cut and combination of secrets: how many people have it.
CREATE OR REPLACE VIEW sides AS
SELECT
    people.part,
    [CASE WHEN by_tree = 1 THEN place >> cut ELSE (place > cut)::BIGINT END][attribute] AS side,
    secrets,
    sum(people)::BIGINT AS people
FROM people JOIN cuts ON people.part = cuts.part
WHERE people.part IN (SELECT part FROM halves WHERE allowed)
GROUP BY people.part, side, secrets;

-- One row per class and combination of secrets: how many people have it, all of them on one side.
CREATE OR REPLACE VIEW sides_of_classes AS
SELECT
    part,
    FALSE AS side,
    secrets,
    count(*) AS people
FROM coded JOIN done USING (place)
GROUP BY part, secrets;

-- One row per side of a cut and value of the secret: how many people have it. Of reported values the
-- last one, the missing one, is left out. Of people with several records each counts once for a value.
{# sided(reported=False, people=False), sided(reported=True, people=True) #}
CREATE OR REPLACE VIEW sided AS
SELECT
    part,
    side,
    secret AS value,
    {{ "count(DISTINCT person)" if people else "sum(people)" }}::BIGINT AS people
FROM sides
{{ "WHERE secret < missing_code" if reported }}
GROUP BY part, side, secret;

-- One row per part one side of which has records of too few different people.
CREATE OR REPLACE VIEW few_people AS
SELECT part
FROM sides
GROUP BY part, side
HAVING count(DISTINCT person) < wanted_k;

-- One row per part one side of which has too few different values of the secret.
CREATE OR REPLACE VIEW l_distinct AS
SELECT part
FROM sided
GROUP BY part, side
HAVING count(*) < wanted_l;

-- One row per part one side of which has a secret of too little entropy: n ln n less the sum of
-- m ln m over its values is n times the entropy. Logarithms are whole numbers of 2^-40, so that
-- sums do not depend on the order; the limit is met when less than 10^-9 of it is missing.
CREATE OR REPLACE VIEW l_entropy AS
SELECT part
FROM sided
GROUP BY part, side
HAVING
    floor(sum(people)::BIGINT * ln(sum(people)::BIGINT) * 1099511627776)::HUGEINT
    - sum(floor(people * ln(people) * 1099511627776)::HUGEINT)
    < (sum(people)::BIGINT * ln(wanted_numerator / wanted_denominator) * 1099511627776)
    * 0.999999999::DOUBLE;

-- One row per part one side of which has a most frequent value that occurs at least c times as
-- often as all from the l-th most frequent on.
CREATE OR REPLACE VIEW l_recursive AS
SELECT part
FROM sided
GROUP BY part, side
HAVING
    max(people)::HUGEINT * wanted_denominator
    >= (
        sum(people)
        - coalesce(list_sum(list_slice(max(people, wanted_l), 1, wanted_l - 1)), 0)
    )::HUGEINT * wanted_numerator;

-- One row per part one side of which has a secret that is spread otherwise than in the whole
-- release: the sum of |n p - N q| over all values, those that do not occur on the side too, is at
-- most 2 t n N.
CREATE OR REPLACE VIEW t_equal AS
SELECT part
FROM (
    SELECT
        part,
        side,
        sided.people,
        sum(sided.people) OVER (PARTITION BY part, side) AS size,
        whole.people AS everybody
    FROM sided JOIN whole ON sided.value = whole.code
) AS compared
GROUP BY part, side, size
HAVING
    wanted_denominator
    * (
        sum(abs(people::HUGEINT * wanted_records - everybody::HUGEINT * size))
        + size::HUGEINT * (wanted_records - sum(everybody))
    )
    > 2 * wanted_numerator::HUGEINT * size * wanted_records;

-- One row per part one side of which has a secret that is spread otherwise than in the whole
-- release, in the ordered distance: the sum over all values x of |N n(x) - n N(x)|, where n(x) and
-- N(x) are those with x or a smaller value, is at most t (values - 1) n N. Between two values that
-- occur on the side n(x) stays the same; from the value number ``reached`` on N(x) is the greater.
CREATE OR REPLACE VIEW t_ordered AS
SELECT part
FROM (
    SELECT
        part,
        side,
        size,
        upto * wanted_records * (2 * reached - code - next_code)
        + size * (next_before + before - 2 * reached_before)
        + CASE WHEN first_code = code THEN size * before ELSE 0 END AS distance
    FROM (
        SELECT
            steps.*,
            CASE
                WHEN reached.code IS NULL OR reached.code < steps.code THEN steps.code
                WHEN reached.code >= next_code THEN next_code
                ELSE reached.code + 1
            END AS reached,
            CASE
                WHEN reached.code IS NULL OR reached.code < steps.code THEN steps.before
                WHEN reached.code >= next_code THEN next_before
                ELSE reached.before + reached.upto
            END AS reached_before
        FROM (
            SELECT
                part,
                side,
                whole.code,
                whole.before::HUGEINT AS before,
                sum(sided.people) OVER (PARTITION BY part, side)::HUGEINT AS size,
                sum(sided.people) OVER (PARTITION BY part, side ORDER BY whole.code)::HUGEINT
                    AS upto,
                min(whole.code) OVER (PARTITION BY part, side) AS first_code,
                lead(whole.code, 1, wanted_values)
                    OVER (PARTITION BY part, side ORDER BY whole.code) AS next_code,
                lead(whole.before, 1, wanted_before)
                    OVER (PARTITION BY part, side ORDER BY whole.code)::HUGEINT AS next_before
            FROM sided JOIN whole ON sided.value = whole.code
        ) AS steps
        ASOF LEFT JOIN whole AS reached ON steps.upto * wanted_records // steps.size >= reached.upto
    ) AS crossed
) AS measured
GROUP BY part, side, size
HAVING
    wanted_denominator * sum(distance)::HUGEINT
    > wanted_numerator * (wanted_values - 1) * size * wanted_records;

-- One row: the records of a node in classes by some quasi-identifiers that have too few records, or people.
{# rare_records(qids=[1, 3], people=False), rare_records(qids=[1], people=True) #}
CREATE OR REPLACE VIEW rare_records AS
SELECT coalesce(sum(size), 0)::BIGINT AS records
FROM (
    SELECT sum(people)::BIGINT AS size
    FROM tuples
    GROUP BY {{ qids | each("code_# >> ?", ", ") }}
    HAVING {{ "count(DISTINCT person)" if people else "sum(people)" }} < wanted_k
) AS rare;

-- One row per class of a node that breaks no limit on a secret, and per person in it where some people
-- have several records: its steps, how many records.
{# shown_of_node(people=False), shown_of_node(people=True) #}
CREATE OR REPLACE VIEW shown_of_node AS
SELECT
    ranked.part,
    step,
    {{ "person," if people }}
    sum(people)::BIGINT AS people
FROM (
    SELECT
        dense_rank() OVER (ORDER BY step) AS part,
        step,
        {{ "person," if people }}
        people
    FROM tuples_of_node
) AS ranked
ANTI JOIN refused ON ranked.part = refused.part
GROUP BY ALL;

-- One row per class of a release that breaks no limit on a secret, and per person in it where some people
-- have several records: its steps, how many records.
{# shown_of_done(people=False), shown_of_done(people=True) #}
CREATE OR REPLACE VIEW shown_of_done AS
SELECT
    done.part,
    step,
    {{ "person, count(*)" if people else "sum(people)" }}::BIGINT AS people
FROM done
{{ "INNER JOIN coded USING (place)" if people }}
ANTI JOIN refused ON done.part = refused.part
GROUP BY {{ "done.part, step, person" if people else "done.part, step" }};

-- One row per class, in all combinations of quasi-identifiers, that is never too small by any of them.
{# large_classes(people=False), large_classes(people=True) #}
CREATE OR REPLACE VIEW large_classes AS
SELECT step
FROM shown
GROUP BY part, step
HAVING {{ "count(*)" if people else "sum(shown.people)" }} >= wanted_largest;

-- One row per class, person in it, and one of the `combinations` by whose cells it is alike with no large
-- class: these cells, and how many records, or people, must have them.
{# open_classes(combinations=[[1, 2], [3]], people=False), open_classes(combinations=[[1]], people=True) #}
CREATE OR REPLACE VIEW open_classes AS
SELECT *
FROM (
    {% for qids in combinations %}
    {{ "UNION ALL" if not loop.first }}
    SELECT
        shown.part,
        {{ "shown.person," if people }}
        shown.people,
        wanted_k_{{ loop.index }} AS required,
        [{{ loop.index }}, {{ qids | each("shown.step_#", ", ") }}] AS cells
    FROM shown
    ANTI JOIN large_classes ON {{ qids | each("shown.step_# = large_classes.step_#", " AND ") }}
    {% endfor %}
) AS alike;

-- The same rows without classes that by one of the combinations are too small.
{# still_open(people=False), still_open(people=True) #}
CREATE OR REPLACE VIEW still_open AS
SELECT alike.*
FROM alike
ANTI JOIN (
    SELECT alike.part
    FROM alike
    SEMI JOIN (
        SELECT cells
        FROM alike
        GROUP BY cells, required
        HAVING {{ "count(DISTINCT alike.person)" if people else "sum(alike.people)" }} < required
    ) AS rare ON alike.cells = rare.cells
) AS broken ON alike.part = broken.part;

-- One row per class that is still shown, and person in it: without those that were open, and are not any more.
CREATE OR REPLACE VIEW still_shown AS
SELECT shown.*
FROM shown
ANTI JOIN (
    SELECT part FROM open_classes ANTI JOIN still_open ON open_classes.part = still_open.part
) AS hidden ON shown.part = hidden.part;

-- One row per class that is not shown.
CREATE OR REPLACE VIEW hidden_classes AS
SELECT DISTINCT sides.part
FROM sides ANTI JOIN shown ON sides.part = shown.part;

-- One row: how many classes what is shown has by some quasi-identifiers alone, and the records, or people,
-- of the smallest.
{# shown_classes(qids=[1, 3], people=False), shown_classes(qids=[1], people=True) #}
CREATE OR REPLACE VIEW shown_classes AS
SELECT
    count(*) AS classes,
    min(people) AS smallest
FROM (
    SELECT {{ "count(DISTINCT person)" if people else "sum(people)" }}::BIGINT AS people
    FROM shown
    GROUP BY {{ qids | each("step_#", ", ") }}
) AS counted;
