-- One row per cell of one quasi-identifier and place of a target that it holds.
CREATE OR REPLACE VIEW covers AS
SELECT
    spans.id,
    aimed_at.place
FROM spans
JOIN (SELECT DISTINCT place FROM spotted) AS aimed_at
    ON aimed_at.place BETWEEN spans.low AND spans.high
    AND (aimed_at.place >= spans.least OR aimed_at.place = 0)
LEFT JOIN members ON spans.enumerated AND spans.id = members.id AND aimed_at.place = members.place
WHERE NOT spans.enumerated OR members.id IS NOT NULL;
