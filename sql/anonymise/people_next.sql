-- One row per different person of an open part: the part after the cut. Where the cut is refused
-- the part stays, and its quasi-identifier has been tried.
CREATE OR REPLACE VIEW people_next AS
SELECT
    CASE
        WHEN refused.part IS NULL AND allowed
        THEN child + ([place][attribute] > cut)::BIGINT
        ELSE people.part
    END AS part,
    CASE
        WHEN refused.part IS NULL AND allowed THEN 0
        ELSE cuts.tried | (1::BIGINT << (attribute - 1))
    END AS tried,
    place,
    secrets,
    people
FROM people
JOIN cuts ON people.part = cuts.part
LEFT JOIN refused ON cuts.part = refused.part;
