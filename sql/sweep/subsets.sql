-- One row per subset, question, part of a sample (0: everybody) and percent: the sums over blocks.
CREATE OR REPLACE VIEW subsets AS
SELECT
    as_named(known(state)) AS subset,
    * EXCLUDE (state)
FROM waiting
WHERE (known(state) & -known(state) & getvariable('complete')) <> 0
ORDER BY subset, question, part, bin;
