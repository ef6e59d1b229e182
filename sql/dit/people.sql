-- Who is a target, and in which batch.

-- One row per record that is a target, in the batch in which it is worked. Of fewer targets than
-- records, lots are drawn from the seed and the position.
CREATE OR REPLACE VIEW records_aimed AS
SELECT
    target,
    target AS record,
    spots,
    secret,
    1::BIGINT AS people,
    (row_number() OVER (ORDER BY target) - 1) // wanted_many AS batch
FROM (
    SELECT
        record AS target,
        [place] AS spots,
        [secrets][1] AS secret,
        row_number() OVER (ORDER BY md5(concat_ws('|', wanted_seed, record)), record) AS number_drawn
    FROM coded
) AS drawn
WHERE wanted_targets = 0 OR number_drawn <= wanted_targets;

-- One row per different person: their places and secret, under a number; how many people.
CREATE OR REPLACE VIEW different AS
SELECT
    row_number() OVER (ORDER BY place, secrets) AS person,
    place,
    secrets,
    count(*) AS people
FROM coded
GROUP BY place, secrets;

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

-- One row per target, in the batch in which it is worked: those with a tree of their own come last.
CREATE OR REPLACE VIEW aimed AS
SELECT
    targets.target,
    targets.spots,
    targets.secret,
    targets.people,
    CASE
        WHEN rescaled.target IS NULL
        THEN (row_number() OVER (PARTITION BY rescaled.target IS NULL ORDER BY targets.target) - 1) // wanted_many
        ELSE
            1000000000
            + (row_number() OVER (PARTITION BY rescaled.target IS NULL ORDER BY targets.target) - 1) // wanted_few
    END AS batch
FROM targets LEFT JOIN rescaled ON targets.target = rescaled.target;

-- One row per target of one batch.
CREATE OR REPLACE VIEW batch AS
SELECT
    target,
    spots,
    secret,
    people
FROM aimed
WHERE batch = wanted_batch;

-- One row per record: the different person that it is of.
CREATE OR REPLACE VIEW whose AS
SELECT
    coded.record,
    different.person AS target
FROM coded JOIN different USING (place, secrets);

-- One row per different person who is a target, with the first record that is theirs, in the batch
-- in which they are worked.
CREATE OR REPLACE VIEW people_aimed AS
SELECT
    targets.target,
    whose.record,
    targets.spots,
    targets.secret,
    targets.people,
    (row_number() OVER (ORDER BY targets.target) - 1) // wanted_many AS batch
FROM targets JOIN (
    SELECT
        target,
        min(record) AS record
    FROM whose
    GROUP BY target
) AS whose ON targets.target = whose.target;
