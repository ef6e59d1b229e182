-- One row per place of the useful attribute: how many people are there, and the least and the
-- greatest pattern of answers of the predicates among them (the same, where the useful attribute
-- decides the answers).
CREATE OR REPLACE VIEW held AS
SELECT
    places.place,
    coalesce(sum(joint.people), 0)::BIGINT AS people,
    min(joint.pattern) AS least,
    max(joint.pattern) AS greatest
FROM places
LEFT JOIN joint ON joint.useful IS NOT DISTINCT FROM places.useful
GROUP BY places.place
ORDER BY places.place;
