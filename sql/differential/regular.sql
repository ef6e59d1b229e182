-- One row: whether taking away a value between the ends of a scale leaves the places of all others
-- as they are: values are measured, none is missing, and each has its own share of the scale.
CREATE OR REPLACE VIEW regular AS
SELECT
    coalesce(
        count(position) = count(*) AND max(position) > min(position)
        AND isfinite(max(position) - min(position)) AND min(step) > 1,
        FALSE
    ) AS regular
FROM (
    SELECT
        position,
        place - lag(place) OVER (ORDER BY code) AS step
    FROM measured_scale
) AS steps;
