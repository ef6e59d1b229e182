-- One row per target of a batch and quasi-identifier: the number of their value in its order, from 1;
-- 0 is the missing value.
CREATE OR REPLACE VIEW spotted AS
SELECT
    targets.target,
    CASE WHEN scale.value IS NULL THEN 0 ELSE scale.code + 1 END::INTEGER AS place
FROM targets JOIN scale ON list_extract(targets.spots, wanted_attribute) = scale.place;
