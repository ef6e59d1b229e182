-- One row per person's values and class in whose spans they lie, where the class's cell of one
-- column has gaps: without those that fall into a gap.
CREATE OR REPLACE VIEW filled AS
SELECT
    met.point,
    met.class
FROM met
INNER JOIN ids ON met.class = ids.class
INNER JOIN spans ON ids.id = spans.id
INNER JOIN points ON met.point = points.point
LEFT JOIN members ON spans.enumerated AND spans.id = members.id AND members.place = each(points.place)
WHERE NOT spans.enumerated OR members.id IS NOT NULL;
