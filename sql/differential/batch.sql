-- One row per target of one batch.
CREATE OR REPLACE VIEW batch AS
SELECT
    target,
    spots,
    secret,
    people
FROM aimed
WHERE batch = wanted_batch;
