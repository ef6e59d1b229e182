-- One row per class: how many records it has, whether their cells are suppressed, and for each
-- quasi-identifier the first and last place in it, and the last that is not of the missing value.
CREATE OR REPLACE VIEW classes AS
SELECT
    done.part,
    sum(people)::BIGINT AS size,
    coalesce(bool_or(refused.part IS NOT NULL), FALSE) AS suppressed,
    min(place) AS low,
    max(place) FILTER (WHERE place < missing) AS top,
    max(place) AS high
FROM done LEFT JOIN refused ON done.part = refused.part
GROUP BY done.part;
