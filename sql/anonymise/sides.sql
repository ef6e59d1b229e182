-- One row per side of a cut and combination of secrets: how many people have it.
CREATE OR REPLACE VIEW sides AS
SELECT
    people.part,
    [place][attribute] > cut AS side,
    secrets,
    sum(people)::BIGINT AS people
FROM people JOIN cuts ON people.part = cuts.part
WHERE allowed
GROUP BY people.part, side, secrets;
