-- One row per different cell of a column of a release: its records, how many of the original's
-- values it contains, the missing one too, and, where values have positions, those of the first and
-- the last. A cell that is enumerated contains its members only.
CREATE OR REPLACE VIEW contained AS
SELECT
    cells.id,
    held.records,
    spans.everything,
    spans.enumerated,
    greatest(spans.least, 1) AS first,
    spans.high AS last,
    NOT spans.enumerated AND coalesce(spans.low = 0, FALSE) AND absent.there AS missing,
    CASE
        WHEN spans.enumerated THEN spans.width
        ELSE greatest(0, spans.high - greatest(spans.least, 1) + 1)
            + (coalesce(spans.low = 0, FALSE) AND absent.there)::INTEGER
    END::BIGINT AS width,
    lowest.position AS lower,
    highest.position AS upper
FROM cells
INNER JOIN held ON cells.cell IS NOT DISTINCT FROM held.cell
INNER JOIN spans ON cells.id = spans.id
CROSS JOIN (SELECT coalesce(bool_or(place = 0), FALSE) AS there FROM places) AS absent
LEFT JOIN (
    SELECT
        id,
        min(place) AS place
    FROM members
    WHERE place > 0
    GROUP BY id
) AS listed ON cells.id = listed.id AND spans.enumerated
LEFT JOIN positions AS lowest
    ON lowest.place = CASE WHEN spans.enumerated THEN listed.place ELSE greatest(spans.least, 1) END
        AND spans.high >= lowest.place
LEFT JOIN positions AS highest ON spans.high = highest.place AND spans.high > 0;
