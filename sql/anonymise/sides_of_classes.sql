-- One row per class and combination of secrets: how many people have it, all of them on one side.
CREATE OR REPLACE VIEW sides_of_classes AS
SELECT
    part,
    FALSE AS side,
    secrets,
    count(*) AS people
FROM coded JOIN done USING (place)
GROUP BY part, secrets;
