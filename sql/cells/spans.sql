-- Cells of a sanitised column: which values of the people each stands for.

-- One row per value of a quasi-identifier among the people: its place in their order, from 1 (that
-- of the hierarchy first, where there is one); the missing value has place 0.
CREATE OR REPLACE VIEW places AS
SELECT
    value,
    people,
    CASE WHEN value IS NOT NULL
        THEN row_number() OVER (ORDER BY leaf NULLS LAST, value NULLS LAST)
    ELSE 0 END::INTEGER AS place
FROM raw_values;

-- One row per cell of text that may be more than a value.
CREATE OR REPLACE VIEW unread AS
SELECT
    id,
    cell
FROM cells
WHERE
    regexp_matches(cell, '[*{]')
    OR (
        regexp_matches(cell, '[\[<>≤≥]|^[(\]]|^[0-9]+-[0-9]+\??$')
        AND cell NOT IN (SELECT value::VARCHAR FROM places WHERE value IS NOT NULL)
    );

-- One row per cell that is a value: that value.
CREATE OR REPLACE VIEW parsed_plain AS
SELECT
    id,
    FALSE AS everything,
    FALSE AS ranged,
    NULL AS lower,
    NULL AS upper,
    FALSE AS open_below,
    FALSE AS open_above,
    FALSE AS missing,
    [comparable(cell)] AS items,
    NULL AS prefix,
    NULL AS length
FROM cells;

-- One row per cell that is an interval: its bounds, both in it; a structure that is missing stands
-- for everything, one without bounds for the missing value alone.
CREATE OR REPLACE VIEW parsed_interval AS
SELECT
    id,
    cell IS NULL AS everything,
    coalesce(cell.lower IS NOT NULL OR cell.upper IS NOT NULL, FALSE) AS ranged,
    comparable(cell.lower) AS lower,
    comparable(cell.upper) AS upper,
    FALSE AS open_below,
    FALSE AS open_above,
    coalesce(cell.missing, FALSE) AS missing,
    [] AS items,
    NULL AS prefix,
    NULL AS length
FROM cells;

-- One row per cell that is a list: its values; a list that is missing stands for everything.
CREATE OR REPLACE VIEW parsed_list AS
SELECT
    id,
    cell IS NULL AS everything,
    FALSE AS ranged,
    NULL AS lower,
    NULL AS upper,
    FALSE AS open_below,
    FALSE AS open_above,
    FALSE AS missing,
    cell AS items,
    NULL AS prefix,
    NULL AS length
FROM cells;

-- One row per cell of text: what it stands for, as it was read; a cell that was not read is the
-- value that stands there.
CREATE OR REPLACE VIEW parsed_text AS
SELECT
    cells.id,
    coalesce(readings.everything, FALSE) AS everything,
    coalesce(readings.ranged, FALSE) AS ranged,
    comparable(readings.lower) AS lower,
    comparable(readings.upper) AS upper,
    coalesce(readings.open_below, FALSE) AS open_below,
    coalesce(readings.open_above, FALSE) AS open_above,
    coalesce(readings.missing, FALSE) AS missing,
    CASE WHEN readings.id IS NULL THEN [cells.cell] ELSE readings.items END AS items,
    readings.prefix,
    readings.length
FROM cells LEFT JOIN readings ON cells.id = readings.id;

-- One row per cell that is no interval and stands for the missing value besides its items.
CREATE OR REPLACE VIEW absent AS
SELECT
    id,
    0 AS place
FROM parsed
WHERE missing AND NOT ranged AND EXISTS (SELECT 1 FROM places WHERE place = 0);

-- One row per cell and value that is named in it, and occurs among the people.
CREATE OR REPLACE VIEW listed AS
SELECT DISTINCT
    named.id,
    places.place
FROM (
    SELECT
        id,
        unnest(items) AS item
    FROM parsed
    WHERE NOT ranged AND NOT everything
) AS named
INNER JOIN places ON comparable(named.item) IS NOT DISTINCT FROM comparable(places.value);

-- One row per cell that is a prefix and value that begins with it and has its length; of text, where
-- no value has its length, of any length.
CREATE OR REPLACE VIEW begun AS
SELECT
    id,
    place
FROM (
    SELECT
        prefixes.id,
        prefixes.open_above,
        beginnings.place,
        beginnings.size = prefixes.length AS fits,
        bool_or(beginnings.size = prefixes.length) OVER (PARTITION BY prefixes.id) AS any_fits
    FROM (SELECT id, prefix, length, open_above FROM parsed WHERE prefix IS NOT NULL) AS prefixes
    INNER JOIN (
        SELECT
            places.place,
            length(places.value::VARCHAR) AS size,
            shapes.characters,
            left(places.value::VARCHAR, shapes.characters) AS beginning
        FROM places
        INNER JOIN (
            SELECT DISTINCT length(prefix) AS characters
            FROM parsed
            WHERE prefix IS NOT NULL
        ) AS shapes ON length(places.value::VARCHAR) >= shapes.characters
    ) AS beginnings
        ON prefixes.prefix = beginnings.beginning AND length(prefixes.prefix) = beginnings.characters
) AS candidates
WHERE fits OR (open_above AND NOT any_fits);

-- One row per cell that is an interval: the places of the first and the last value in it. The
-- value before the first is the last below the lower bound.
CREATE OR REPLACE VIEW ranges AS
SELECT
    bounds.id,
    bounds.missing,
    1 + coalesce(CASE WHEN bounds.open_below THEN upto_lower.place ELSE below_lower.place END, 0) AS least,
    CASE
        WHEN bounds.upper IS NULL THEN (SELECT max(place) FROM places)
        ELSE coalesce(CASE WHEN bounds.open_above THEN below_upper.place ELSE upto_upper.place END, 0)
    END AS high
FROM (SELECT * FROM parsed WHERE ranged) AS bounds
ASOF LEFT JOIN places AS below_lower ON bounds.lower > comparable(below_lower.value)
ASOF LEFT JOIN places AS upto_lower ON bounds.lower >= comparable(upto_lower.value)
ASOF LEFT JOIN places AS below_upper ON bounds.upper > comparable(below_upper.value)
ASOF LEFT JOIN places AS upto_upper ON bounds.upper >= comparable(upto_upper.value);

-- One row per cell that stands for a value of the people: the span of places that it covers. Place
-- 0, the missing value, is in it where low is 0; from 1 on it begins at least. A cell that is
-- enumerated covers only the places of its members. Width: how many places.
CREATE OR REPLACE VIEW spans AS
SELECT
    parsed.id,
    CASE
        WHEN parsed.everything THEN 0
        WHEN parsed.ranged THEN CASE WHEN parsed.missing THEN 0 ELSE ranges.least END
        ELSE enumerated.low
    END::INTEGER AS low,
    CASE
        WHEN parsed.everything THEN 0
        WHEN parsed.ranged THEN ranges.least
        ELSE enumerated.low
    END::INTEGER AS least,
    CASE
        WHEN parsed.everything THEN (SELECT max(place) FROM places)
        WHEN parsed.ranged THEN ranges.high
        ELSE enumerated.high
    END::INTEGER AS high,
    CASE
        WHEN parsed.everything THEN (SELECT count(*) FROM places)
        WHEN parsed.ranged
            THEN greatest(0, ranges.high - ranges.least + 1) + parsed.missing::INTEGER
        ELSE enumerated.width
    END::BIGINT AS width,
    NOT parsed.everything AND NOT parsed.ranged
        AND enumerated.width < enumerated.high - enumerated.low + 1 AS enumerated,
    parsed.everything
FROM parsed
LEFT JOIN ranges ON parsed.id = ranges.id
LEFT JOIN (
    SELECT
        id,
        min(place) AS low,
        max(place) AS high,
        count(*) AS width
    FROM members
    GROUP BY id
) AS enumerated ON parsed.id = enumerated.id;

-- One row per cell and stretch of numbers (of dates and times, of seconds) that it stands for: a value,
-- or from bound to bound. A number that no person can have, such as a centroid among whole numbers, is
-- in the text of its cell alone.
{# stretches(dated=0), stretches(dated=1) #}
CREATE OR REPLACE VIEW stretches AS
SELECT
    id,
    lower,
    upper
FROM (
    SELECT
        id,
        {% if dated %}
        epoch(comparable(lower)) AS lower,
        epoch(comparable(upper)) AS upper
        {% else %}
        comparable(lower)::DOUBLE AS lower,
        comparable(upper)::DOUBLE AS upper
        {% endif %}
    FROM parsed
    WHERE ranged
    UNION ALL
    SELECT
        id,
        {{ "epoch(comparable(item))" if dated else "item::DOUBLE" }} AS lower,
        lower AS upper
    FROM (SELECT id, unnest(items) AS item FROM parsed WHERE NOT ranged AND NOT everything) AS listed
    WHERE item IS NOT NULL
    {% if not dated %}
    UNION ALL
    SELECT
        unlisted.id,
        TRY_CAST(cells.cell::VARCHAR AS DOUBLE) AS lower,
        lower AS upper
    FROM (SELECT id FROM parsed WHERE NOT ranged AND NOT everything AND len(items) = 0) AS unlisted
    INNER JOIN cells ON unlisted.id = cells.id
    WHERE lower IS NOT NULL
    {% endif %}
) AS every
WHERE NOT coalesce(isnan(lower), FALSE);

-- One row: the least and the greatest number among the values of people and the single values of cells.
{# extremes(dated=0), extremes(dated=1) #}
CREATE OR REPLACE VIEW extremes AS
SELECT
    min(number) AS smallest,
    max(number) AS largest
FROM (
    SELECT {{ "epoch(value)" if dated else "value::DOUBLE" }} AS number FROM places WHERE place > 0
    UNION ALL
    SELECT lower FROM stretches WHERE lower = upper
) AS every
WHERE isfinite(number);

-- One row per cell and value of the people: whether the cell contains it.
CREATE OR REPLACE VIEW contained AS
SELECT
    spans.id,
    places.place,
    coalesce(
        places.place BETWEEN spans.low AND spans.high
        AND (places.place >= spans.least OR places.place = 0)
        AND (NOT spans.enumerated OR members.id IS NOT NULL),
        FALSE
    ) AS inside
FROM spans
CROSS JOIN places
LEFT JOIN members ON spans.enumerated AND spans.id = members.id AND places.place = members.place;

-- One row per cell and number of the people: how far it is from the nearest number for which the cell
-- stands, in steps of which 2^20 are the range of the numbers; a bound more than a range outside is a
-- range outside. Distances are rounded, not places, so that equal distances are equal.
{# away(dated=0), away(dated=1) #}
CREATE OR REPLACE VIEW away AS
SELECT
    bounds.id,
    scaled.place,
    floor(min(greatest(bounds.lower - scaled.share, scaled.share - bounds.upper, 0)) * 1048576 + 0.5)::BIGINT AS steps
FROM (
    SELECT
        stretches.id,
        coalesce(greatest(-1, least(2, CASE
            WHEN extremes.largest > extremes.smallest
                THEN (stretches.lower - extremes.smallest) / (extremes.largest - extremes.smallest)
            ELSE sign(stretches.lower - extremes.smallest)
        END)), -1) AS lower,
        coalesce(greatest(-1, least(2, CASE
            WHEN extremes.largest > extremes.smallest
                THEN (stretches.upper - extremes.smallest) / (extremes.largest - extremes.smallest)
            ELSE sign(stretches.upper - extremes.smallest)
        END)), 2) AS upper
    FROM stretches CROSS JOIN extremes
) AS bounds
CROSS JOIN (
    SELECT
        places.place,
        greatest(-1, least(2, CASE
            WHEN extremes.largest > extremes.smallest
                THEN ({{ "epoch(places.value)" if dated else "places.value::DOUBLE" }} - extremes.smallest) / (extremes.largest - extremes.smallest)
            ELSE sign({{ "epoch(places.value)" if dated else "places.value::DOUBLE" }} - extremes.smallest)
        END)) AS share
    FROM places CROSS JOIN extremes
    WHERE places.place > 0
) AS scaled
GROUP BY bounds.id, scaled.place;

-- One row: the squared distances of all values of people (in order, from the first place) from all
-- cells of a column (in order, so many for each value). A value in the cell is at 0; of numbers, any
-- other at the square of its steps; all others are at the square of the range.
{# distances(numeric=0), distances(numeric=1) #}
CREATE OR REPLACE VIEW distances AS
SELECT
    list(CASE
        WHEN contained.inside THEN 0
        {{ "WHEN away.steps IS NOT NULL THEN away.steps * away.steps" if numeric }}
        ELSE 1099511627776
    END ORDER BY contained.place ASC, contained.id ASC) AS squares,
    min(contained.place) AS first_place,
    count(DISTINCT contained.id) AS cells
FROM contained
{{ "LEFT JOIN away ON contained.id = away.id AND contained.place = away.place" if numeric }};
