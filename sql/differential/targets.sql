-- One row per different person who is a target: their places as a list, their secret, how many
-- targets they stand for. Each takes their own record out. Of fewer targets than people, lots are
-- drawn from the seed and what is in a record.
CREATE OR REPLACE VIEW targets AS
SELECT
    person AS target,
    any_value([place]) AS spots,
    any_value([secrets][1]) AS secret,
    count(*) AS people
FROM (
    SELECT
        *,
        row_number() OVER (ORDER BY draw, person, turn) AS number_drawn
    FROM (
        SELECT
            *,
            CASE
                WHEN wanted_targets > 0
                THEN md5(concat_ws('|', wanted_seed, [place]::VARCHAR, [secrets]::VARCHAR, turn))
            END AS draw
        FROM (SELECT *, unnest(range(people)) AS turn FROM different) AS everybody
    ) AS drawn
) AS ranked
WHERE wanted_targets = 0 OR number_drawn <= wanted_targets
GROUP BY person;
