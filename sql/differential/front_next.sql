-- One row per subtree and node one step further down in it.
CREATE OR REPLACE VIEW front_next AS
SELECT
    front.unit,
    clean.child + halves.half AS node
FROM front
JOIN clean ON front.node = clean.node
CROSS JOIN (SELECT unnest([0, 1]) AS half) AS halves
WHERE clean.attribute > 0;
