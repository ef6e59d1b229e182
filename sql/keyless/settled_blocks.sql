-- One row per settled observation: the records with it, the most that a guess can get right, how
-- many records may be meant, and how many observations there are later.
CREATE OR REPLACE VIEW settled_blocks AS
SELECT
    crowd.first_sight,
    sum(crowd.records)::BIGINT AS records,
    1::BIGINT AS most,
    sum(crowd.records)::BIGINT AS possible,
    any_value(settled.observations) AS observations
FROM crowd
JOIN settled ON settled.first_sight = crowd.first_sight
GROUP BY crowd.first_sight;
