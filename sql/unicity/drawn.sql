-- One row per draw: the person it falls on, each with the same chance, of those with enough points.
CREATE OR REPLACE VIEW drawn AS
SELECT
    draws.draw,
    draws.lot,
    eligible.person
FROM (
    SELECT
        numbered.draw,
        numbered.lot,
        (md5_number(numbered.lot) % there.people::UHUGEINT)::BIGINT AS place
    FROM (
        SELECT
            counted.draw,
            concat(counted.seed, '/', counted.points, '/', counted.draw) AS lot
        FROM (
            SELECT
                seed,
                points,
                unnest(range(draws)) AS draw
            FROM asked
        ) AS counted
    ) AS numbered, (
        SELECT count(*) AS people
        FROM eligible
    ) AS there
) AS draws
JOIN eligible ON eligible.place = draws.place;
