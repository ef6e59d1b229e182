-- One row per observation of all releases: its chance, that of the likeliest record, and how many
-- records it may be.
CREATE OR REPLACE VIEW observations AS
SELECT
    crowd.first_sight,
    endings.seen,
    endings.sight,
    sum(crowd.records * endings.mass) AS total,
    max(endings.mass) AS most,
    sum(crowd.records) AS possible
FROM crowd
JOIN endings ON endings.source = crowd.kind
GROUP BY crowd.first_sight, endings.seen, endings.sight;
