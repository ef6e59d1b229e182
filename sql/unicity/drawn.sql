-- One row per draw: the person it falls on, each with the same chance, of those with enough points.
CREATE OR REPLACE VIEW drawn AS
SELECT
    draws.draw,
    eligible.person
FROM (
    SELECT
        numbered.draw,
        (md5_number(numbered.draw) % there.people::UHUGEINT)::BIGINT AS place
    FROM (
        SELECT concat(seed, '/', points, '/', unnest(range(draws))) AS draw
        FROM asked
    ) AS numbered, (
        SELECT count(*) AS people
        FROM eligible
    ) AS there
) AS draws
JOIN eligible ON eligible.place = draws.place;
