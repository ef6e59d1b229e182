-- Published tables of counts as they stand in files: what their texts mean, and what contradicts.

-- One row per column and text in it: the first line that has it. `fields` has the texts of a file,
-- in a column for each place.
CREATE OR REPLACE VIEW texts AS
SELECT
    cell.field,
    cell.typed = 1 AS typed,
    cell.text,
    min(line) AS line
FROM (
    SELECT
        line,
        unnest([{'field': number, 'typed': typed, 'text': place}]) AS cell
    FROM fields
) AS unfolded
GROUP BY cell.field, cell.typed, cell.text;

-- One row per column and text in it: the first line that has it, and what it means as a count.
-- `count` is a number; `grouped` one with commas or points that may stand for thousands; `hidden` and
-- `letter` are marks of hidden counts; `below` and `above` are limits, less than the amount and not
-- less than it. All others are no counts. `bare` is the text without case and blanks around it.
CREATE OR REPLACE VIEW meanings AS
SELECT
    field,
    "text",
    line,
    bare,
    kind,
    CASE
        WHEN kind IN ('count', 'grouped', 'below', 'above') THEN
            try_cast(
                regexp_replace(regexp_replace(compact, '[.,]0{1,2}$', ''), '[^0-9]', '', 'g')
                AS BIGINT
            )
            + (kind = 'below' AND regexp_matches(compact, '=|≤'))::BIGINT
            + (kind = 'above' AND regexp_matches(compact, '^>[^=]'))::BIGINT
    END AS amount
FROM (
    SELECT
        *,
        CASE
            WHEN bare = '' THEN 'empty'
            WHEN typed AND contains(bare, '.') THEN 'fraction'
            WHEN regexp_full_match(compact, '[0-9]{1,15}([.,]0{1,2})?') THEN 'count'
            WHEN regexp_full_match(compact, '[0-9]{16,}') THEN 'large'
            WHEN regexp_full_match(bare, '[1-9][0-9]{0,2}((,[0-9]{3}){1,4}|([.][0-9]{3}){1,4})') THEN 'grouped'
            WHEN regexp_full_match(bare, '[*]+|[.]{2,3}|…|:c?|[\[(](c|d|s|x)[\])]') THEN 'hidden'
            WHEN regexp_full_match(bare, 'c|d|s|x|n\.?p\.?|suppressed|confidential') THEN 'letter'
            WHEN regexp_full_match(compact, '(<|<=|≤|less than|fewer than|menos de)\s*[1-9][0-9]{0,14}') THEN 'below'
            WHEN regexp_full_match(compact, '[0-9]{1,15}\s*(\+|or more|ou mais)|(>|>=|≥|at least)\s*[0-9]{1,15}') THEN 'above'
            WHEN regexp_full_match(bare, '[-‐‑‒–—−]+|[./#]|n\.?/?a\.?|nan|null|none|z') THEN 'sign'
            WHEN regexp_full_match(bare, '[-−]\s*[0-9][0-9., ]*') THEN 'negative'
            WHEN regexp_full_match(bare, '[0-9]*[.,][0-9]+(e[-+]?[0-9]+)?|[0-9]+e[-+]?[0-9]+') THEN 'fraction'
            ELSE 'other'
        END AS kind
    FROM (
        SELECT
            *,
            CASE
                WHEN regexp_full_match(bare, '[1-9][0-9]{0,2}([\s\p{Z}''’][0-9]{3}){1,4}')
                    THEN regexp_replace(bare, '[^0-9]', '', 'g')
                ELSE bare
            END AS compact
        FROM (
            SELECT
                *,
                lower(regexp_replace(coalesce(nfc_normalize("text"), ''), '^[\s\p{Z}]+|[\s\p{Z}]+$', '', 'g')) AS bare
            FROM texts
        ) AS bared
    ) AS compacted
) AS classified;

-- One row per column: whether its cells are counts, or labels. Signs that may be none, and missing
-- cells, decide nothing.
CREATE OR REPLACE VIEW kinds AS
SELECT
    field,
    CASE
        WHEN numbers AND NOT words THEN 'counts'
        WHEN words AND NOT numbers THEN 'labels'
        ELSE 'unclear'
    END AS kind
FROM (
    SELECT
        field,
        bool_or(kind IN ('count', 'grouped', 'hidden', 'negative', 'fraction', 'large')) AS numbers,
        bool_or(kind = 'other') AS words
    FROM meanings
    GROUP BY field
) AS summed;

-- One row: the first line with a comma or point that may stand for thousands, NULL without one, and
-- whether it surely does. It does if it is one sign everywhere, if all numbers from 1,000 on have it,
-- and if a number has it twice or a smaller number has none.
CREATE OR REPLACE VIEW grouping_signs AS
SELECT
    min(line) FILTER (WHERE kind = 'grouped') AS line,
    NOT (bool_or(kind = 'grouped' AND contains(bare, ',')) AND bool_or(kind = 'grouped' AND contains(bare, '.')))
    AND NOT bool_or(kind = 'count' AND regexp_full_match(bare, '[0-9]{4,}'))
    AND bool_or(kind = 'grouped' AND length(bare) > 7 OR kind = 'count' AND length(bare) < 4) AS sure
FROM meanings;

-- One row per text of a count: the counts that it may stand for. `asked` has those of hidden and of
-- printed counts, by the protection of the file; NULL is unbounded.
CREATE OR REPLACE VIEW text_counts AS
SELECT DISTINCT
    meanings."text",
    CASE WHEN meanings.kind IN ('count', 'grouped', 'above') THEN meanings.amount END AS published,
    CASE
        WHEN meanings.kind IN ('hidden', 'letter') THEN asked.least_hidden
        WHEN meanings.kind = 'below' THEN least(asked.least_below, meanings.amount - 1)
        WHEN meanings.kind = 'above' THEN meanings.amount
        ELSE asked.least_printed
    END AS "lower",
    CASE
        WHEN meanings.kind IN ('hidden', 'letter') THEN asked.most_hidden
        WHEN meanings.kind = 'below' THEN coalesce(asked.most_below, meanings.amount - 1)
        WHEN meanings.kind <> 'above' THEN asked.most_printed
    END AS "upper",
    meanings.kind IN ('hidden', 'letter', 'below') AS hidden
FROM meanings
CROSS JOIN asked;

-- One row per combination in several lines of a file: the first two or more of them.
CREATE OR REPLACE VIEW repeated AS
SELECT
    min(line) AS line,
    max(line) AS other_line
FROM cells
GROUP BY totals, qid
HAVING count(*) > 1;

-- One row per value in several spellings, which differ only in case or blanks around them: a file and
-- line of two spellings.
CREATE OR REPLACE VIEW spellings AS
SELECT
    min(place) AS place,
    max(place) AS other_place
FROM (
    SELECT
        bare,
        "text",
        min({'file': file, 'line': line}) AS place
    FROM listed
    GROUP BY bare, "text"
) AS written
GROUP BY bare
HAVING count(*) > 1;

-- One row per combination whose total cannot be the sum of its rows: the line of the total, and the
-- first of its rows; NULL where there is none, which means 0.
CREATE OR REPLACE VIEW wrong_totals AS
SELECT
    min(line) FILTER (WHERE whole) AS line,
    min(line) FILTER (WHERE NOT whole) AS part
FROM summands
GROUP BY qid
HAVING
    coalesce(sum("lower") FILTER (WHERE NOT whole), 0)
    > CASE WHEN bool_or(whole) THEN max("upper") FILTER (WHERE whole) ELSE 0 END
    OR coalesce(max("lower") FILTER (WHERE whole), 0)
    > CASE
        WHEN count(*) FILTER (WHERE NOT whole AND "upper" IS NULL) = 0
            THEN coalesce(sum("upper") FILTER (WHERE NOT whole), 0)
    END;

-- One row per value of a dimension whose counts are, line by line, the sums of those of all other
-- values: its first line. Two lines of two values each, or more, are hardly an accident.
{# undeclared_totals(value=1, others=[2, 3]) #}
CREATE OR REPLACE VIEW undeclared_totals AS
SELECT min(line) AS line
FROM (
    SELECT
        value_{{ value }},
        line,
        published,
        sum(published) OVER ({{ others | partition_by("value") }}) AS whole,
        count(published) OVER ({{ others | partition_by("value") }}) AS "values"
    FROM cells
) AS lines
GROUP BY value_{{ value }}
HAVING
    bool_and(2 * published = whole AND "values" > 2)
    AND count(published) = count(*)
    AND count(*) FILTER (WHERE published > 0) > 1;
