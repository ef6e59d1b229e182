-- One row per target, in the batch in which it is worked: those with a tree of their own come last.
CREATE OR REPLACE VIEW aimed AS
SELECT
    targets.target,
    targets.spots,
    targets.secret,
    targets.people,
    CASE
        WHEN rescaled.target IS NULL
        THEN (row_number() OVER (PARTITION BY rescaled.target IS NULL ORDER BY targets.target) - 1) // wanted_many
        ELSE
            1000000000
            + (row_number() OVER (PARTITION BY rescaled.target IS NULL ORDER BY targets.target) - 1) // wanted_few
    END AS batch
FROM targets LEFT JOIN rescaled ON targets.target = rescaled.target;
