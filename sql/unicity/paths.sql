-- One row per person and point of hers, by their numbers.
CREATE OR REPLACE VIEW paths AS
SELECT
    people.person,
    places.point,
    places.owners
FROM traces
JOIN places ON places.qid IS NOT DISTINCT FROM traces.qid
JOIN people ON people.key = traces.key;
