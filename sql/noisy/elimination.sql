-- Noisy knowledge: true values are replaced by what is known, one quasi-identifier after another.

-- One row per combination: the largest weight of one record, the weight of all, how many they are.
CREATE OR REPLACE VIEW people AS
SELECT
    exact,
    place,
    heaviest AS best,
    weight AS total,
    people AS possible,
    1::HUGEINT AS ways
FROM coded;

-- One row: how many pairs the next quasi-identifier makes.
CREATE OR REPLACE VIEW law_pairs AS
SELECT coalesce(sum(fans.fan), 0)::BIGINT AS pairs
FROM state
JOIN (SELECT code, count(*) AS fan FROM law GROUP BY code) AS fans ON fans.code = state.own;

-- One row: how many pairs the next quasi-identifier makes, whose values are mistaken for others.
CREATE OR REPLACE VIEW choice_pairs AS
SELECT coalesce(sum(fans.fan), 0)::BIGINT AS pairs
FROM state
JOIN (SELECT exact, count(*) AS fan FROM choices GROUP BY exact) AS fans
    ON fans.exact = state.exact;

-- One row per combination of what is known, as far as values are replaced: the weight of the
-- likeliest record, the weight of all records, and how many are possible.
CREATE OR REPLACE VIEW spread AS
SELECT
    state.exact,
    state.place,
    law.known AS own,
    max(state.best * law.weight) AS best,
    sum(state.total * law.weight) AS total,
    sum(state.possible)::BIGINT AS possible,
    any_value(state.ways) AS ways
FROM state
JOIN law ON law.code = state.own
GROUP BY state.exact, state.place, law.known;

-- One row per combination of what is known, as far as values are replaced, and value of the secret:
-- the weight of the records with it.
CREATE OR REPLACE VIEW secret_spread AS
SELECT
    state.exact,
    state.place,
    law.known AS own,
    state.secret,
    sum(state.mass * law.weight) AS mass,
    any_value(state.ways) AS ways
FROM state
JOIN law ON law.code = state.own
GROUP BY state.exact, state.place, law.known, state.secret;

-- The same, where a value may be mistaken for any other: those that do not occur in the group of
-- people are one value (number 0), because each of them has the same odds.
CREATE OR REPLACE VIEW confused AS
SELECT
    exact,
    place,
    known AS own,
    max(best * weight) AS best,
    sum(total * weight) AS total,
    sum(possible)::BIGINT AS possible,
    any_value(ways * kinds) AS ways
FROM (
    SELECT
        state.*,
        choices.known,
        choices.kinds,
        CASE
            WHEN choices.known = state.own THEN law.same
            ELSE choices.frequency * law.other
        END AS weight
    FROM state
    JOIN law ON law.code = state.own
    JOIN choices ON choices.exact = state.exact
) AS pairs
WHERE weight > 0
GROUP BY exact, place, known;

-- The same by value of the secret.
CREATE OR REPLACE VIEW secret_confused AS
SELECT
    exact,
    place,
    known AS own,
    secret,
    sum(mass * weight) AS mass,
    any_value(ways * kinds) AS ways
FROM (
    SELECT
        state.*,
        choices.known,
        choices.kinds,
        CASE
            WHEN choices.known = state.own THEN law.same
            ELSE choices.frequency * law.other
        END AS weight
    FROM state
    JOIN law ON law.code = state.own
    JOIN choices ON choices.exact = state.exact
) AS pairs
WHERE weight > 0
GROUP BY exact, place, known, secret;

-- One row per combination of what is known: the weight of the likeliest record, of all, and how many
-- records are possible.
CREATE OR REPLACE VIEW settled AS
SELECT
    exact,
    place,
    best,
    total,
    possible,
    ways
FROM state;

-- One row per combination of what is known: the weight of the likeliest secret, of all, and how many
-- secrets are possible.
CREATE OR REPLACE VIEW guesses AS
SELECT
    exact,
    place,
    max(mass) AS best,
    sum(mass) AS total,
    count(*) AS possible,
    any_value(ways) AS ways
FROM state
GROUP BY exact, place;

-- One row: how many combinations may be known, the weight of all of them, of the best guesses, and of
-- those that leave no doubt, and the largest chance of a best guess.
CREATE OR REPLACE VIEW success AS
SELECT
    sum(ways) AS blocks,
    sum(total) AS total,
    sum(best) AS most,
    coalesce(sum(total) FILTER (WHERE possible = 1), 0) AS certain,
    max(best::DOUBLE / total::DOUBLE) AS worst_case
FROM known;

-- What `confused` gives where no other quasi-identifier follows, without pairs: per combination of
-- what is known, the weight of the likeliest record, of all, and how many are possible. Values that
-- do not occur among the people who share all else that is known are one value (number 0).
CREATE OR REPLACE VIEW last_confused AS
SELECT
    exact,
    place,
    own,
    best,
    total,
    possible,
    ways
FROM (
    SELECT
        state.exact,
        state.place,
        state.own,
        greatest(
            state.best * law.same,
            law.frequency * CASE
                WHEN state.best * law.other = crowds.tops[1] THEN coalesce(crowds.tops[2], 0::HUGEINT)
                ELSE crowds.tops[1]
            END
        ) AS best,
        state.total * law.same + law.frequency * (crowds.total - state.total * law.other) AS total,
        crowds.possible,
        state.ways
    FROM state
    JOIN law ON law.code = state.own
    JOIN crowds ON crowds.exact = state.exact AND each(crowds.place = state.place)
    UNION ALL
    SELECT
        exact,
        place,
        0::BIGINT AS own,
        tops[1] * frequency AS best,
        total * frequency AS total,
        possible,
        ways * kinds AS ways
    FROM crowds
    WHERE frequency > 0
) AS every;

-- One row per combination of all else that is known: the two largest weights of a record that is
-- mistaken for another, the weight of all, how many are possible, how frequent the values are that
-- do not occur here, and how many these are.
CREATE OR REPLACE VIEW crowds AS
SELECT
    state.exact,
    state.place,
    max(state.best * law.other, 2) AS tops,
    sum(state.total * law.other) AS total,
    sum(state.possible)::BIGINT AS possible,
    everybody - sum(law.frequency) AS frequency,
    (number_of_values - count(*))::HUGEINT AS kinds,
    any_value(state.ways) AS ways
FROM state
JOIN law ON law.code = state.own
GROUP BY state.exact, state.place;

-- The same about a secret: per combination of what is known, the weight of the likeliest value, of
-- all, and how many are possible. It needs that the true value is the likeliest to be known.
CREATE OR REPLACE VIEW last_secret_confused AS
SELECT
    exact,
    place,
    own,
    best,
    total,
    possible,
    ways
FROM (
    SELECT
        state.exact,
        state.place,
        state.own,
        max(
            greatest(
                law.frequency * crowds.best,
                law.frequency * secrets_here.mass + state.mass * (law.same - law.frequency * law.other)
            )
        ) AS best,
        any_value(law.frequency * crowds.total)
        + sum(state.mass * (law.same - law.frequency * law.other)) AS total,
        any_value(crowds.possible) AS possible,
        any_value(state.ways) AS ways
    FROM state
    JOIN law ON law.code = state.own
    JOIN crowds ON crowds.exact = state.exact AND each(crowds.place = state.place)
    JOIN secrets_here
        ON secrets_here.exact = state.exact
            AND secrets_here.secret = state.secret
            AND each(secrets_here.place = state.place)
    GROUP BY state.exact, state.place, state.own
    UNION ALL
    SELECT
        exact,
        place,
        0::BIGINT AS own,
        best * frequency AS best,
        total * frequency AS total,
        possible,
        ways * kinds AS ways
    FROM crowds
    WHERE frequency > 0
) AS every;

-- One row per combination of all else that is known and secret: its weight where the value is
-- mistaken for another.
CREATE OR REPLACE VIEW secrets_here AS
SELECT
    state.exact,
    state.place,
    state.secret,
    sum(state.mass * law.other) AS mass
FROM state
JOIN law ON law.code = state.own
GROUP BY state.exact, state.place, state.secret;

-- One row per combination of all else that is known: the largest weight of a secret where the value
-- is mistaken for another, the weight of all, how many secrets are possible, how frequent the values
-- are that do not occur here, and how many these are.
CREATE OR REPLACE VIEW secret_crowds AS
SELECT
    here.exact,
    here.place,
    max(secrets_here.mass) AS best,
    sum(secrets_here.mass) AS total,
    count(*) AS possible,
    any_value(here.frequency) AS frequency,
    any_value(here.kinds) AS kinds,
    any_value(here.ways) AS ways
FROM (
    SELECT
        exact,
        place,
        everybody - sum(frequency) AS frequency,
        (number_of_values - count(*))::HUGEINT AS kinds,
        any_value(ways) AS ways
    FROM (
        SELECT
            state.exact,
            state.place,
            any_value(law.frequency) AS frequency,
            any_value(state.ways) AS ways
        FROM state
        JOIN law ON law.code = state.own
        GROUP BY state.exact, state.place, state.own
    ) AS values_here
    GROUP BY exact, place
) AS here
JOIN secrets_here ON secrets_here.exact = here.exact AND each(secrets_here.place = here.place)
GROUP BY here.exact, here.place;
