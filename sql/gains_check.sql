-- One row: whether computed gains are numbers. How many are not; the lowest gain, and the highest.
CREATE OR REPLACE VIEW gains_check AS
SELECT
    count(*) FILTER (WHERE gain IS NULL OR NOT isfinite(gain)) AS unusable,
    min(gain) AS lowest,
    max(gain) AS highest
FROM pairs;
