-- One row per run, distance and target; finite is empty where the distance is infinite.
CREATE OR REPLACE VIEW each_one AS
SELECT
    run,
    people,
    different,
    distance,
    value,
    CASE WHEN NOT isinf(value) THEN value END AS finite
FROM (
    SELECT
        run,
        people,
        with_target <> without_target AS different,
        unnest(['emd_printed', 'emd', 'max_divergence', 'emd_hierarchy']) AS distance,
        unnest([emd_printed, emd, max_divergence, emd_hierarchy]) AS value
    FROM apart
) AS listed
WHERE value IS NOT NULL;
