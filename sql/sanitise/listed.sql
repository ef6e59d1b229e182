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
