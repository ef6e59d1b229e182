-- What is another one in the whole release without a target: scales, and the spread of the secret.

-- One row per value of a quasi-identifier that one person alone has and without which the scale may
-- be another one: its place and code.
CREATE OR REPLACE VIEW lonely AS
SELECT
    place AS spot,
    code
FROM scale
WHERE
    people = 1
    AND (NOT wanted_ends OR place IN ((SELECT min(place) FROM scale), (SELECT max(place) FROM scale)));

-- One row per value of a scale but one: as the scale is measured without it.
CREATE OR REPLACE VIEW left_over AS
SELECT
    value,
    code - (code > wanted_code)::BIGINT AS code,
    people,
    position
FROM measured_scale
WHERE code <> wanted_code;

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

-- One row per value whose place is another one on the scale without the value of a target.
CREATE OR REPLACE VIEW moved AS
SELECT
    wanted_spot AS lonely_spot,
    wanted_attribute AS attribute,
    scale.place AS spot_of_all,
    without_value.place AS spot
FROM without_value
JOIN scale ON scale.code = without_value.code + (without_value.code >= wanted_code)::BIGINT
WHERE scale.place <> without_value.place;

-- One row per value of a quasi-identifier without distances: its place and code, how many people
-- have it, and how many values there are.
CREATE OR REPLACE VIEW nominal AS
SELECT
    wanted_attribute::BIGINT AS attribute,
    place AS spot,
    code,
    people,
    wanted_values::BIGINT AS "values"
FROM scale;

-- One row per target without whom a scale is another one.
CREATE OR REPLACE VIEW rescaled AS
SELECT DISTINCT targets.target
FROM targets
JOIN different ON targets.target = different.person AND different.people = 1
JOIN (
    SELECT
        attribute,
        lonely_spot
    FROM moved
    UNION
    SELECT
        attribute,
        spot AS lonely_spot
    FROM alone
) AS gone ON list_extract(targets.spots, gone.attribute) = gone.lonely_spot;

-- One row per value of the secret that is left when somebody who has one of them is gone: its number
-- then, and how many people have it.
CREATE OR REPLACE VIEW secrets_left AS
SELECT
    row_number() OVER (ORDER BY code) - 1 AS code,
    people - (code = wanted_code)::BIGINT AS people
FROM whole
WHERE people > (code = wanted_code)::BIGINT;

-- One row per secret that a target takes away, and secret: how many people of the whole release.
CREATE OR REPLACE VIEW everybody_else AS
SELECT
    part,
    FALSE AS side,
    secrets,
    people
FROM (
    SELECT
        gone.secret AS part,
        secrets,
        sum(different.people)::BIGINT - (gone.secret = [secrets][1])::BIGINT AS people
    FROM different CROSS JOIN (SELECT DISTINCT secret FROM targets) AS gone
    GROUP BY gone.secret, secrets
) AS without_target
WHERE people > 0;

-- One row per tree of a target's own, quasi-identifier and place that is another one there. Values
-- without distances lie evenly between 0 and 2^30, and one of them is missing.
CREATE OR REPLACE VIEW own_scale AS
SELECT
    root,
    attribute,
    spot_of_all,
    spot
FROM (
    SELECT
        roots.root,
        moved.attribute,
        moved.spot_of_all,
        moved.spot
    FROM roots
    JOIN targets ON roots.target = targets.target
    JOIN moved ON list_extract(targets.spots, moved.attribute) = moved.lonely_spot
    UNION ALL
    SELECT
        roots.root,
        alone.attribute,
        nominal.spot AS spot_of_all,
        floor(
            (nominal.code - (nominal.code > alone.code)::BIGINT) / (alone."values" - 2) * 1073741824
        )::BIGINT AS spot
    FROM roots
    JOIN targets ON roots.target = targets.target
    JOIN alone ON list_extract(targets.spots, alone.attribute) = alone.spot
    JOIN nominal ON alone.attribute = nominal.attribute AND alone.code <> nominal.code
) AS both;
