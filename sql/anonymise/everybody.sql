-- One row per combination of secrets: how many people have it, all of them on one side.
CREATE OR REPLACE VIEW everybody AS
SELECT
    1 AS part,
    FALSE AS side,
    secrets,
    count(*) AS people
FROM coded
GROUP BY secrets;
