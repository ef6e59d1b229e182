-- Classes as cells: what a record of a class shows, and what that loses.

-- One row per class: how many records it has, whether their cells are suppressed, and for each
-- quasi-identifier the first and last place in it, and the last that is not of the missing value.
CREATE OR REPLACE VIEW classes AS
SELECT
    done.part,
    sum(people)::BIGINT AS size,
    coalesce(bool_or(refused.part IS NOT NULL), FALSE) AS suppressed,
    min(place) AS low,
    max(place) FILTER (WHERE place < missing) AS top,
    max(place) AS high
FROM done LEFT JOIN refused ON done.part = refused.part
GROUP BY done.part;

-- One row per record: its position, and its class.
CREATE OR REPLACE VIEW membership AS
SELECT
    record,
    part
FROM coded JOIN done USING (place);

-- One row: the classes in all, those that are not suppressed, how many records they have together,
-- the smallest and the largest; how many records are suppressed.
CREATE OR REPLACE VIEW sizes AS
SELECT
    count(*) AS blocks,
    count(*) FILTER (WHERE NOT suppressed) AS classes,
    coalesce(sum(size) FILTER (WHERE NOT suppressed), 0)::BIGINT AS records,
    min(size) FILTER (WHERE NOT suppressed) AS smallest,
    max(size) FILTER (WHERE NOT suppressed) AS largest,
    coalesce(sum(size) FILTER (WHERE suppressed), 0)::BIGINT AS suppressed
FROM classes;

-- One row: how many different people have records in the smallest and in the largest class that is not
-- suppressed, and in all of them, class by class.
CREATE OR REPLACE VIEW crowds AS
SELECT
    min(people) AS smallest,
    max(people) AS largest,
    coalesce(sum(people), 0)::BIGINT AS people
FROM (
    SELECT
        membership.part,
        count(DISTINCT person) AS people
    FROM (
        SELECT
            part,
            person
        FROM coded JOIN done USING (place)
    ) AS membership
    ANTI JOIN refused ON membership.part = refused.part
    GROUP BY membership.part
) AS sized;

-- One row per class: the values of one quasi-identifier in it, in their order, missing last.
CREATE OR REPLACE VIEW sets AS
SELECT
    part,
    count(*) AS "values",
    list(value ORDER BY code) AS cell
FROM (SELECT DISTINCT part, own_place AS place FROM done) AS different
JOIN scale ON different.place = scale.place
GROUP BY part;

-- One row per class: the lowest node of a hierarchy that is above all values of one quasi-identifier in
-- it, or its one value; the share of the values of the hierarchy that are below, of 2^30 (one value: 1).
CREATE OR REPLACE VIEW lowest_nodes AS
SELECT
    part,
    coalesce(min(width), 1) AS "values",
    coalesce(arg_min(label, last_place - first_place), any_value(value::VARCHAR)) AS cell
FROM (
    SELECT
        part,
        min(own_place) AS smallest,
        max(own_place) AS largest
    FROM done
    GROUP BY part
) AS ends
JOIN scale ON smallest = scale.place
LEFT JOIN branches
    ON attribute = wanted_attribute AND smallest < largest
    AND smallest >= first_place AND largest <= last_place
GROUP BY part;

-- One row: the records whose cell of one quasi-identifier stands for several values, and the length
-- of all intervals together, each as often as it has records; the cells that are written.
CREATE OR REPLACE VIEW spans AS
SELECT
    coalesce(sum(size) FILTER (WHERE low < high), 0)::BIGINT AS generalised,
    coalesce(sum(size::HUGEINT * (high - low)), 0)::HUGEINT AS spanned,
    coalesce(sum(size), 0)::HUGEINT AS written
FROM classes
WHERE NOT suppressed;

-- One row: the records whose cell of one quasi-identifier is a set of several values, and the values
-- of all such sets together, each as often as it has records; the values that are to be written.
CREATE OR REPLACE VIEW counted AS
SELECT
    coalesce(sum(size) FILTER (WHERE "values" > 1), 0)::BIGINT AS generalised,
    coalesce(sum(size::HUGEINT * "values") FILTER (WHERE "values" > 1), 0)::HUGEINT AS spanned,
    coalesce(sum(size::HUGEINT * "values"), 0)::HUGEINT AS written
FROM classes JOIN sets ON classes.part = sets.part
WHERE NOT suppressed;

-- One row per class: the mean of the values of one quasi-identifier over its records, without those
-- that are missing. Values are added in their order, so that the sum is the same each time.
CREATE OR REPLACE VIEW means AS
SELECT
    part,
    count(DISTINCT different.place) AS "values",
    list_sum(list(value::DOUBLE * different.people ORDER BY code) FILTER (WHERE value IS NOT NULL))
    / nullif(sum(different.people) FILTER (WHERE value IS NOT NULL), 0)::DOUBLE AS cell
FROM (SELECT part, own_place AS place, sum(people)::BIGINT AS people FROM done GROUP BY part, place)
    AS different
JOIN scale ON different.place = scale.place
GROUP BY part;

-- One row per class: the median of the values of one quasi-identifier over its records, the lower
-- one of two; missing comes last.
CREATE OR REPLACE VIEW medians AS
SELECT
    part,
    count(*) AS "values",
    arg_min_null(value, code) FILTER (WHERE 2 * upto >= size) AS cell
FROM (
    SELECT
        part,
        code,
        value,
        sum(different.people) OVER (PARTITION BY part ORDER BY code) AS upto,
        sum(different.people) OVER (PARTITION BY part) AS size
    FROM (
        SELECT
            part,
            own_place AS place,
            sum(people)::BIGINT AS people
        FROM done
        GROUP BY part, place
    ) AS different
    JOIN scale ON different.place = scale.place
) AS added
GROUP BY part;

-- One row per class: the values of one quasi-identifier in it as a text: one value as it is, several
-- as {a,b}, where nothing between two commas is the missing value. Values with signs of their own
-- are quoted; one value that reads like a generalised cell stands in braces, too.
CREATE OR REPLACE VIEW texts AS
SELECT
    part,
    count(*) AS "values",
    CASE
        WHEN count(*) > 1 THEN concat('{', string_agg(item, ',' ORDER BY code), '}')
        WHEN any_value(special) THEN concat('{', any_value(item), '}')
        ELSE any_value(told)
    END AS cell
FROM (
    SELECT
        part,
        code,
        told,
        special,
        CASE
            WHEN told IS NULL THEN ''
            WHEN special OR regexp_matches(told, '[,{}"\r\n]')
            THEN concat('"', replace(told, '"', '""'), '"')
            ELSE told
        END AS item
    FROM (
        SELECT
            part,
            code,
            told,
            coalesce(
                regexp_matches(
                    told, '^$|^[{*]|[*]$|^[\s\p{Z}]|[\s\p{Z}]$'
                ),
                FALSE
            ) AS special
        FROM (
            SELECT
                part,
                code,
                value::VARCHAR AS told
            FROM (SELECT DISTINCT part, own_place AS place FROM done) AS different
            JOIN scale ON different.place = scale.place
        ) AS values_of_class
    ) AS looked_at
) AS items
GROUP BY part;

-- One row per class: an interval with its ends in it, and whether the missing value is in it, too.
CREATE OR REPLACE VIEW interval_structs AS
SELECT {'lower': bounds.lower, 'upper': bounds.upper, 'missing': bounds.missing} AS cell
FROM bounds;

-- One row per class: an interval as a text, from its ends (`lower`, `upper`) and these as they are
-- written (`lower_text`, `upper_text`): 20-29, -5 to -1, one value as it is; with ? behind it where the
-- missing value is in it, too. The end of a defined interval may be out ([20,30)), or beyond a limit
-- (>=80), and the missing value may be alone in it.
{# interval_texts(defined=True, half_open=True, numbers=True), interval_texts(defined=False, half_open=False, numbers=False) #}
CREATE OR REPLACE VIEW interval_texts AS
SELECT
    CASE
        WHEN bounds.alone THEN bounds.lower_text
        {% if defined %}
        WHEN bounds.lower IS NULL AND NOT bounds.missing THEN concat('<=', bounds.upper_text)
        WHEN bounds.upper IS NULL AND NOT bounds.missing THEN concat('>=', bounds.lower_text)
        WHEN bounds.missing THEN NULL
        {% endif %}
        {% if half_open %}
        ELSE concat('[', bounds.lower_text, bounds.comma, bounds.upper_text, ')')
        {% elif numbers %}
        ELSE concat(
            bounds.lower_text,
            CASE WHEN bounds.lower >= 0 AND regexp_matches(bounds.upper_text, '^[0-9]') THEN '-' ELSE ' to ' END,
            bounds.upper_text
        )
        {% else %}
        ELSE concat(bounds.lower_text, ' to ', bounds.upper_text)
        {% endif %}
    END || CASE WHEN bounds.missing AND NOT bounds.alone THEN '?' ELSE '' END AS cell
FROM bounds;

-- One row per class: an interval of days as a text: 1980s, 1980-1984, 1980, Jan-Mar 2019, Jan 2019, else
-- its ends. `first_day` and `last_day` are NULL where the interval does not begin or end with a day.
CREATE OR REPLACE VIEW period_texts AS
SELECT
    CASE
        WHEN days.first_day IS NULL OR days.last_day IS NULL OR days.first_day = days.last_day THEN NULL
        WHEN NOT coalesce(year(days.first_day) >= 1000 AND year(days.last_day) <= 9998, FALSE) THEN NULL
        WHEN day(days.first_day) > 1 OR day(days.last_day + 1) > 1 THEN NULL
        WHEN month(days.first_day) = 1 AND month(days.last_day) = 12 THEN CASE
            WHEN year(days.first_day) = year(days.last_day) THEN strftime(days.first_day, '%Y')
            WHEN year(days.first_day) % 10 = 0 AND year(days.last_day) = year(days.first_day) + 9
            THEN strftime(days.first_day, '%Ys')
            ELSE concat(strftime(days.first_day, '%Y'), '-', strftime(days.last_day, '%Y'))
        END
        WHEN date_trunc('month', days.first_day) = date_trunc('month', days.last_day)
        THEN strftime(days.first_day, '%b %Y')
        WHEN year(days.first_day) = year(days.last_day)
        THEN concat(strftime(days.first_day, '%b'), '-', strftime(days.last_day, '%b %Y'))
        ELSE concat(strftime(days.first_day, '%b %Y'), ' to ', strftime(days.last_day, '%b %Y'))
    END AS cell
FROM days;

-- One row per class: the middle of an interval of numbers; of one with a single end, that end.
CREATE OR REPLACE VIEW middle_of_numbers AS
SELECT
    coalesce(bounds.lower, bounds.upper)::DOUBLE / 2
    + coalesce(bounds.upper, bounds.lower)::DOUBLE / 2 AS cell
FROM bounds;

-- One row per class: the middle of an interval of dates, of two the earlier one.
CREATE OR REPLACE VIEW middle_of_dates AS
SELECT
    coalesce(bounds.lower, bounds.upper)
    + ((coalesce(bounds.upper, bounds.lower) - coalesce(bounds.lower, bounds.upper)) // 2)::INTEGER
    AS cell
FROM bounds;

-- One row per class: the middle of an interval of times, to the microsecond.
CREATE OR REPLACE VIEW middle_of_times AS
SELECT
    coalesce(bounds.lower, bounds.upper) + to_microseconds(
        (
            epoch_us(coalesce(bounds.upper, bounds.lower))
            - epoch_us(coalesce(bounds.lower, bounds.upper))
        ) // 2
    ) AS cell
FROM bounds;
