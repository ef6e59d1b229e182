-- One row per run and target: what ``distances`` says.
CREATE OR REPLACE VIEW apart AS
SELECT
    wanted_run::BIGINT AS run,
    target,
    people,
    emd_printed,
    emd,
    max_divergence,
    emd_hierarchy,
    with_target,
    without_target
FROM distances;
