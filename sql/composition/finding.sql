-- One row: how many people are in no class of one release, in one, in several; how many are in none
-- but may be among its suppressed records.
CREATE OR REPLACE VIEW finding AS
SELECT
    coalesce(sum(crowd.people) FILTER (WHERE spot_sizes.spot IS NULL), 0)::BIGINT AS nowhere,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.classes = 1), 0)::BIGINT AS in_one,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.classes > 1), 0)::BIGINT AS in_several,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.classes = 0 AND spot_sizes.spot IS NOT NULL), 0)::BIGINT AS only_suppressed
FROM crowd
INNER JOIN whereabouts ON crowd.point = whereabouts.point
LEFT JOIN spot_sizes ON whereabouts.spot = spot_sizes.spot;
