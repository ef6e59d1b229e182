-- One row per kind of record and candidates alike in the next release: the likelihood of each of
-- them as a whole number, at least 1 for what is possible.
CREATE OR REPLACE VIEW weighed AS
SELECT
    kind,
    other,
    sight,
    records,
    greatest(1::HUGEINT, (likelihood * scale)::HUGEINT) AS weight
FROM linked
CROSS JOIN asked
WHERE likelihood > 0;
