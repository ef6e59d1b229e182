-- One row per observation of the focal release that only one kind of record gives: no later release
-- tells these people apart, so that they need not be followed. How many observations there are
-- later.
CREATE OR REPLACE VIEW settled AS
SELECT
    crowd.first_sight,
    any_value(countable.observations) AS observations
FROM crowd
LEFT JOIN countable ON countable.kind = crowd.kind
GROUP BY crowd.first_sight
HAVING count(*) = 1 AND count(countable.kind) = 1;
