-- What the distances of all people come to.

-- One row per run and target: what ``distances`` says.
CREATE OR REPLACE VIEW apart AS
SELECT
    wanted_run::BIGINT AS run,
    target,
    people,
    emd_printed,
    emd,
    max_divergence,
    emd_hierarchy,
    with_target,
    without_target
FROM distances;

-- One row per run, distance and target; finite is empty where the distance is infinite.
CREATE OR REPLACE VIEW each_one AS
SELECT
    run,
    people,
    different,
    distance,
    value,
    CASE WHEN NOT isinf(value) THEN value END AS finite
FROM (
    SELECT
        run,
        people,
        with_target <> without_target AS different,
        unnest(['emd_printed', 'emd', 'max_divergence', 'emd_hierarchy']) AS distance,
        unnest([emd_printed, emd, max_divergence, emd_hierarchy]) AS value
    FROM apart
) AS listed
WHERE value IS NOT NULL;

-- One row per run and distance: the people, those whose distance is infinite, those whose best guess
-- is another one without them; the sum, the mean, the sum of squares around it, and the largest. Sums
-- are whole numbers of 2^-80, so that they do not depend on the order.
CREATE OR REPLACE VIEW moments AS
SELECT
    each_one.run,
    each_one.distance,
    sum(each_one.people)::BIGINT AS records,
    coalesce(sum(each_one.people) FILTER (WHERE each_one.different), 0)::BIGINT AS different,
    coalesce(sum(each_one.people) FILTER (WHERE each_one.finite IS NULL), 0)::BIGINT AS infinite,
    any_value(means.total) AS total,
    coalesce(
        sum(
            each_one.people * floor(
                (each_one.finite - means.mean) * (each_one.finite - means.mean) * 1208925819614629174706176::DOUBLE
            )::HUGEINT
        ),
        0
    )::HUGEINT AS squares,
    max(each_one.value) AS greatest
FROM each_one JOIN (
    SELECT
        run,
        distance,
        coalesce(
            sum(people * floor(finite * 1208925819614629174706176::DOUBLE)::HUGEINT),
            0
        )::HUGEINT AS total,
        total::DOUBLE / 1208925819614629174706176::DOUBLE
        / (sum(people) FILTER (WHERE finite IS NOT NULL))::DOUBLE AS mean
    FROM each_one
    GROUP BY run, distance
) AS means ON each_one.run = means.run AND each_one.distance = means.distance
GROUP BY each_one.run, each_one.distance;

-- One row per run, distance and point: how many people have a distance of at most that.
CREATE OR REPLACE VIEW shares AS
SELECT
    each_one.run,
    each_one.distance,
    points.point,
    coalesce(sum(each_one.people) FILTER (WHERE each_one.value <= points.point), 0)::BIGINT AS people,
    sum(each_one.people)::BIGINT AS records
FROM each_one CROSS JOIN points
GROUP BY each_one.run, each_one.distance, points.point;

-- One row per run, distance and point: the most draws in which the distance of one target is at least
-- the point, the draws, and how many people and targets there are.
CREATE OR REPLACE VIEW exceeded AS
SELECT
    run,
    distance,
    point,
    max(draws_above) AS most,
    any_value(draws) AS draws,
    sum(people)::BIGINT AS people,
    count(*) AS targets
FROM (
    SELECT
        run,
        distance,
        point,
        target,
        any_value(people) AS people,
        count(*) AS draws,
        count(*) FILTER (WHERE value >= point) AS draws_above
    FROM (
        SELECT
            run,
            target,
            people,
            unnest(['emd_printed', 'emd', 'max_divergence', 'emd_hierarchy']) AS distance,
            unnest([emd_printed, emd, max_divergence, emd_hierarchy]) AS value
        FROM drawn
    ) AS listed CROSS JOIN points
    WHERE value IS NOT NULL
    GROUP BY run, distance, point, target
) AS by_target
GROUP BY run, distance, point;

-- One row per run and record, in all columns: what changes in the guess about the person without the
-- record. `whose` has the target of each record, `known` the values of the secret by their codes.
CREATE OR REPLACE VIEW record_guesses AS
SELECT *
FROM everybody
CROSS JOIN runs
INNER JOIN whose ON whose.record = everybody.record
LEFT JOIN apart ON apart.target = whose.target AND apart.run = runs.run
LEFT JOIN known AS guessed ON guessed.code = apart.with_target
LEFT JOIN known AS guessed_without ON guessed_without.code = apart.without_target
ORDER BY runs.run, everybody.record;
