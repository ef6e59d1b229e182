-- One row per arrival: its chance, in parts of one record of the focal release.
CREATE OR REPLACE VIEW chances AS
SELECT
    source,
    seen,
    sight,
    kind,
    greatest(
        1::HUGEINT,
        CASE
            WHEN total IS NULL THEN mass
            ELSE (
                mass::DOUBLE
                * (presence * (gathered::DOUBLE / total::DOUBLE) + missed * absence)
            )::HUGEINT
        END
    ) AS mass
FROM arrivals;
