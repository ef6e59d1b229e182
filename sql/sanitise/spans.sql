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
