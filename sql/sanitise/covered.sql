-- One row per cell and place that it covers.
CREATE OR REPLACE VIEW covered AS
SELECT
    spans.id,
    unnest(CASE
        WHEN spans.enumerated THEN members.places
        ELSE list_concat(
            CASE WHEN spans.low = 0 AND spans.least > 0 THEN [0] ELSE [] END,
            range(spans.least, spans.high + 1)
        )
    END)::INTEGER AS place
FROM spans
LEFT JOIN (
    SELECT
        id,
        list(place) AS places
    FROM members
    GROUP BY id
) AS members ON spans.id = members.id AND spans.enumerated;
