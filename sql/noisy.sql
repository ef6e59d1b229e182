-- Noisy knowledge: people as numbers, what may be known of them, and what a guess is worth then.

-- One row per combination of quasi-identifiers that occurs: how many records have it, what they
-- weigh together (here one each), and the largest weight of one of them.
CREATE OR REPLACE VIEW combinations AS
SELECT
    qid,
    count(*) AS people,
    count(*)::HUGEINT AS weight,
    1::HUGEINT AS heaviest
FROM microdata
GROUP BY qid;

-- One row per combination of quasi-identifiers that occurs: how many records have it, what they
-- weigh together, and the largest weight of one of them.
CREATE OR REPLACE VIEW weighted_combinations AS
SELECT
    qid,
    count(*) AS people,
    sum(weight) AS weight,
    max(weight) AS heaviest
FROM microdata
GROUP BY qid;

-- One row per combination of quasi-identifiers and value of the secret: what its records weigh.
CREATE OR REPLACE VIEW secret_combinations AS
SELECT
    qid,
    secret AS value,
    count(*)::HUGEINT AS weight
FROM microdata
GROUP BY qid, secret;

-- One row per combination of quasi-identifiers and value of the secret: what its records weigh.
CREATE OR REPLACE VIEW weighted_secret_combinations AS
SELECT
    qid,
    secret AS value,
    sum(weight) AS weight
FROM microdata
GROUP BY qid, secret;

-- One row per value of a quasi-identifier that is not known exactly: its number, from 1 in the
-- order of the values, and what the records with it weigh.
CREATE OR REPLACE VIEW dictionary AS
SELECT
    row_number() OVER (ORDER BY value ASC NULLS LAST) AS code,
    value,
    frequency
FROM (
    SELECT
        own AS value,
        sum(weight) AS frequency
    FROM combinations
    GROUP BY own
) AS counted;

-- One row per combination of what is known exactly: its number, from 1.
{# exacts(qids=[1, 2]) #}
CREATE OR REPLACE VIEW exacts AS
SELECT
    row_number() OVER (ORDER BY {{ qids | each("qid_# ASC NULLS LAST", ", ") }}) AS exact,
    {{ qids | each("qid_#", ", ") }}
FROM (SELECT DISTINCT {{ qids | each("qid_#", ", ") }} FROM combinations) AS different;

-- One row per combination of quasi-identifiers: the number of what is known exactly, that of the
-- value of each quasi-identifier that is not, and what is counted of the combination.
{# coded(qids=[2, 3], places=[1]), coded(qids=[], places=[1, 2]) #}
CREATE OR REPLACE VIEW coded AS
SELECT
    {{ "exacts.exact" if qids else "1::BIGINT AS exact" }},
    {{ places | each("dictionary_#.code AS place_#,") }}
    combinations.*
FROM combinations
{% if qids %}
INNER JOIN exacts
    ON {{ qids | each("combinations.qid_# IS NOT DISTINCT FROM exacts.qid_#", " AND ") }}
{% endif %}
{% for i in places %}
INNER JOIN dictionary_{{ i }} ON combinations.qid_{{ i }} IS NOT DISTINCT FROM dictionary_{{ i }}.value
{% endfor %};

-- One row per value of the secret: its number, from 1 in the order of the values.
CREATE OR REPLACE VIEW secret_numbers AS
SELECT
    row_number() OVER (ORDER BY value ASC NULLS LAST) AS code,
    value
FROM (SELECT DISTINCT value FROM secret_cells) AS different;

-- One row per combination of quasi-identifiers and value of the secret: the numbers of both, what
-- its records weigh, and one way to be known.
CREATE OR REPLACE VIEW secret_states AS
SELECT
    coded.exact,
    coded.place,
    secret_numbers.code AS secret,
    secret_cells.weight AS mass,
    1::HUGEINT AS ways
FROM secret_cells
JOIN coded ON coded.qid IS NOT DISTINCT FROM secret_cells.qid
JOIN secret_numbers ON secret_numbers.value IS NOT DISTINCT FROM secret_cells.value;

-- One row: what all records weigh, how many combinations there are, and the mean number of
-- combinations among which a person is after what is known exactly.
CREATE OR REPLACE VIEW sizes AS
SELECT sum(weight::DOUBLE * combinations) / sum(weight::DOUBLE) AS alike
FROM (
    SELECT
        exact,
        sum(weight) AS weight,
        count(*) AS combinations
    FROM coded
    GROUP BY exact
) AS groups;

-- One row about the values of a quasi-identifier: the least, the greatest, and how many are not
-- whole numbers.
CREATE OR REPLACE VIEW whole AS
SELECT
    min(value) AS smallest,
    max(value) AS largest,
    count(*) FILTER (WHERE value <> trunc(value)) AS broken
FROM dictionary;

-- One row per value and number that may be known instead, with its weight: the value and a shift.
-- A missing value is known to be missing (number 0).
CREATE OR REPLACE VIEW shifted AS
SELECT
    code,
    known,
    weight
FROM (
    SELECT
        code,
        (value::HUGEINT - lowest.least_value + shift + widest + 1)::BIGINT AS known,
        shifts.weight
    FROM dictionary
    CROSS JOIN (SELECT min(value) AS least_value FROM dictionary) AS lowest
    CROSS JOIN shifts
    WHERE value IS NOT NULL
    UNION ALL
    SELECT
        code,
        0::BIGINT AS known,
        whole_weight AS weight
    FROM dictionary
    WHERE value IS NULL
) AS every;

-- One row per value and what may be known of it: the value itself, or nothing (number 0).
CREATE OR REPLACE VIEW forgotten AS
SELECT
    code,
    known,
    weight
FROM (
    SELECT
        code,
        code AS known,
        known_weight AS weight
    FROM dictionary
    WHERE known_weight > 0
    UNION ALL
    SELECT
        code,
        0::BIGINT AS known,
        unknown_weight AS weight
    FROM dictionary
) AS every;

-- One row about a table of what is known as what: its lines, those whose value does not fit the
-- column, those without a probability, those that repeat a pair, and the values whose probabilities
-- do not add up to 1.
CREATE OR REPLACE VIEW lawless AS
SELECT
    (SELECT count(*) FROM listed) AS lines,
    (SELECT count(*) FROM listed WHERE unfit) AS unfit,
    (
        SELECT count(*)
        FROM listed
        WHERE coalesce(NOT (probability >= 0 AND probability <= 1), true)
    ) AS wrong,
    (
        SELECT coalesce(sum(lines - 1), 0)::BIGINT
        FROM (SELECT count(*) AS lines FROM listed GROUP BY value, label) AS pairs
    ) AS twice,
    count(*) AS listed_values,
    count(*) FILTER (WHERE abs(probabilities - 1) > 1e-9) AS unsound
FROM (
    SELECT
        value,
        sum(probability ORDER BY probability ASC) AS probabilities
    FROM listed
    GROUP BY value
) AS sums;

-- One row per value and label by which it may be known, with a weight: at least 1, all together
-- `whole_weight`, for the likeliest label has what the others leave. A value that the table does not
-- list is known as itself.
CREATE OR REPLACE VIEW labelled AS
SELECT
    code,
    label,
    weight
FROM (
    SELECT
        code,
        label,
        CASE
            WHEN likeliest = 1
                THEN whole_weight - sum(part) OVER (PARTITION BY code) + part
            ELSE part
        END AS weight
    FROM (
        SELECT
            dictionary.code,
            listed.label,
            greatest(1::HUGEINT, round(listed.probability * whole_weight::DOUBLE)::HUGEINT) AS part,
            row_number() OVER (
                PARTITION BY dictionary.code
                ORDER BY listed.probability DESC, listed.label ASC NULLS LAST
            ) AS likeliest
        FROM dictionary
        JOIN listed ON listed.value IS NOT DISTINCT FROM dictionary.value
        WHERE listed.probability > 0
    ) AS parts
    UNION ALL
    SELECT
        code,
        value::VARCHAR AS label,
        whole_weight AS weight
    FROM dictionary
    ANTI JOIN listed ON listed.value IS NOT DISTINCT FROM dictionary.value
) AS every;

-- One row per value and number of what may be known of it, with its weight.
CREATE OR REPLACE VIEW numbered AS
SELECT
    code,
    dense_rank() OVER (ORDER BY label ASC NULLS LAST) AS known,
    weight
FROM labelled;

-- One row: how many values are released, missing ones aside, and to how many, or to missing ones, a
-- matrix leads.
CREATE OR REPLACE VIEW fitting_releases AS
SELECT
    count(*) FILTER (WHERE value IS NOT NULL) AS released_values,
    count(*) FILTER (
        WHERE EXISTS (
            SELECT 1 FROM transitions WHERE transitions.after IS NOT DISTINCT FROM dictionary.value
        )
    ) AS fitting
FROM dictionary
WHERE frequency > 0;

-- One row per true value and released value that a matrix may make of it: their numbers, and the
-- probability, and the share of the true value where the file tells it. A value that the matrix does
-- not list is released as it is.
CREATE OR REPLACE VIEW origins AS
SELECT
    dense_rank() OVER (ORDER BY before ASC NULLS LAST) AS origin,
    code,
    probability,
    share
FROM (
    SELECT
        transitions.before,
        dictionary.code,
        transitions.probability,
        transitions.share
    FROM transitions
    JOIN dictionary ON dictionary.value IS NOT DISTINCT FROM transitions.after
    WHERE transitions.probability > 0 AND dictionary.frequency > 0
    UNION ALL
    SELECT
        dictionary.value AS before,
        dictionary.code,
        1::DOUBLE AS probability,
        NULL::DOUBLE AS share
    FROM dictionary
    ANTI JOIN transitions ON transitions.before IS NOT DISTINCT FROM dictionary.value
    WHERE dictionary.frequency > 0
) AS every;

-- One row about the shares in a file of transitions: how many lines have one, how many values have
-- none from 0 to 1 or several, and whether the shares add up to 1.
CREATE OR REPLACE VIEW told_shares AS
SELECT
    sum(told)::BIGINT AS told,
    count(*) FILTER (WHERE NOT sound) AS wrong,
    abs(sum(share ORDER BY share ASC) - 1) <= 1e-9 AS whole
FROM (
    SELECT
        before,
        count(share) AS told,
        max(share) AS share,
        coalesce(
            count(share) = count(*) AND min(share) = max(share) AND min(share) >= 0
            AND max(share) <= 1,
            false
        ) AS sound
    FROM transitions
    GROUP BY before
) AS departures;

-- One row per released value and true value that it may stand for: the chance of that, from the
-- shares of the true values before the release.
CREATE OR REPLACE VIEW restored AS
SELECT
    dictionary.value,
    weighed.origin::VARCHAR AS label,
    weighed.joint / sum(weighed.joint) OVER (
        PARTITION BY weighed.code
        ORDER BY weighed.origin ASC ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS probability
FROM (
    SELECT
        origins.origin,
        origins.code,
        origins.probability * shares.share AS joint
    FROM origins
    JOIN shares ON shares.origin = origins.origin
) AS weighed
JOIN dictionary ON dictionary.code = weighed.code;

-- One row per combination of what is known and true value of a randomised secret: the weight of the
-- records that may have it.
CREATE OR REPLACE VIEW restored_secrets AS
SELECT
    state.exact,
    state.place,
    law.known AS secret,
    sum(state.mass * law.weight) AS mass,
    any_value(state.ways) AS ways
FROM state
JOIN law ON law.code = state.secret
GROUP BY state.exact, state.place, law.known;

-- One row about the true values of a randomised secret: the weight of the likeliest, and how many are
-- possible.
CREATE OR REPLACE VIEW true_secrets AS
SELECT
    max(mass) AS best,
    sum(mass) AS total,
    count(*) AS possible
FROM (
    SELECT
        law.known,
        sum(dictionary.frequency * law.weight) AS mass
    FROM dictionary
    JOIN law ON law.code = dictionary.code
    GROUP BY law.known
) AS masses;

-- One row per value: the weight that it is known, and the weight of another value for each record
-- that has the other.
CREATE OR REPLACE VIEW confusions AS
SELECT
    code,
    whole_weight - (everybody - frequency) * other AS same,
    other,
    frequency
FROM (
    SELECT
        code,
        frequency,
        CASE
            WHEN frequency = everybody THEN 0::HUGEINT
            ELSE greatest(
                1::HUGEINT,
                round(
                    asked.wrong_share * whole_weight::DOUBLE / (everybody - frequency)::DOUBLE
                )::HUGEINT
            )
        END AS other
    FROM dictionary
    CROSS JOIN asked
) AS rounded;

-- One row per value: the same weights, where they are whole numbers.
CREATE OR REPLACE VIEW exact_confusions AS
SELECT
    code,
    whole_weight - (everybody - frequency) * other AS same,
    other,
    frequency
FROM (
    SELECT
        code,
        frequency,
        CASE
            WHEN frequency = everybody THEN 0::HUGEINT
            ELSE wrong_weight // (everybody - frequency)
        END AS other
    FROM dictionary
) AS whole_numbers;

-- One row per group of people about whom the same is known exactly and value that may be known
-- instead: one of those that occur in the group, or all others together (number 0). How frequent it
-- is, and how many values it stands for.
CREATE OR REPLACE VIEW choices AS
SELECT
    exact,
    known,
    frequency,
    kinds
FROM (
    SELECT
        here.exact,
        here.own AS known,
        law.frequency,
        1::HUGEINT AS kinds
    FROM (SELECT DISTINCT exact, own FROM coded) AS here
    JOIN law ON law.code = here.own
    UNION ALL
    SELECT
        here.exact,
        0::BIGINT AS known,
        everybody - sum(law.frequency) AS frequency,
        (number_of_values - count(*))::HUGEINT AS kinds
    FROM (SELECT DISTINCT exact, own FROM coded) AS here
    JOIN law ON law.code = here.own
    GROUP BY here.exact
    HAVING sum(law.frequency) < everybody
) AS every;

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

-- One row: the weight of the people whom the adversary names where the best guess has a chance of
-- `least` or more, and of those whom she names rightly.
CREATE OR REPLACE VIEW claims AS
SELECT
    coalesce(sum(known.total), 0) AS total,
    coalesce(sum(known.best), 0) AS best
FROM known
CROSS JOIN asked
WHERE known.best::DOUBLE / known.total::DOUBLE >= asked.least;

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

-- One row per drawn person: a combination, drawn by its weight, whatever the order of the records.
CREATE OR REPLACE VIEW drawn AS
SELECT
    lots.draw,
    ranked.exact,
    ranked.place
FROM (
    SELECT
        draw,
        (md5_number(concat(seed, '|person|', draw)) % everybody::UHUGEINT)::HUGEINT AS lot
    FROM (SELECT unnest(range(1, draws + 1)) AS draw) AS numbers
) AS lots
ASOF JOIN (
    SELECT
        exact,
        place,
        sum(weight) OVER (ORDER BY exact, place) - weight AS below
    FROM coded
) AS ranked ON lots.lot >= ranked.below;

-- One row per drawn person: what happens to be known of one quasi-identifier.
CREATE OR REPLACE VIEW drawn_known AS
SELECT
    lots.draw,
    steps.known
FROM (
    SELECT
        draw,
        own,
        (md5_number(concat(seed, '|', number_of_qid, '|', draw)) % whole_weight::UHUGEINT)::HUGEINT
            AS lot
    FROM drawn
) AS lots
ASOF JOIN (
    SELECT
        code,
        known,
        sum(weight) OVER (PARTITION BY code ORDER BY known) - weight AS below
    FROM law
) AS steps ON lots.own = steps.code AND lots.lot >= steps.below;

-- One row per drawn person: what happens to be known of one quasi-identifier, whose value may be
-- mistaken for any other.
CREATE OR REPLACE VIEW drawn_mistaken AS
SELECT
    lots.draw,
    CASE WHEN lots.spot IS NULL THEN lots.own ELSE ranked.code END AS known
FROM (
    SELECT
        draw,
        own,
        CASE
            WHEN lot < same THEN NULL
            WHEN (lot - same) // other < below THEN (lot - same) // other
            ELSE (lot - same) // other + frequency
        END AS spot
    FROM (
        SELECT
            drawn.draw,
            drawn.own,
            ranked.same,
            ranked.other,
            ranked.frequency,
            ranked.below,
            (
                md5_number(concat(seed, '|', number_of_qid, '|', drawn.draw))
                % whole_weight::UHUGEINT
            )::HUGEINT AS lot
        FROM drawn
        JOIN (
            SELECT
                code,
                same,
                other,
                frequency,
                sum(frequency) OVER (ORDER BY code) - frequency AS below
            FROM law
        ) AS ranked ON ranked.code = drawn.own
    ) AS drawn_lots
) AS lots
ASOF JOIN (
    SELECT
        code,
        sum(frequency) OVER (ORDER BY code) - frequency AS below
    FROM law
) AS ranked ON coalesce(lots.spot, 0::HUGEINT) >= ranked.below;

-- One row per drawn person: the number of what is known of her exactly, and what is known of each
-- quasi-identifier that is not.
{# drawn_people(places=[1, 2]) #}
CREATE OR REPLACE VIEW drawn_people AS
SELECT
    drawn.draw,
    {{ places | each("drawn_#.known AS known_#,") }}
    drawn.exact
FROM drawn
{{ places | each("INNER JOIN drawn_# ON drawn.draw = drawn_#.draw") }};

-- One row per drawn person and combination, or combination and secret, that she may have: what it
-- weighs, and the likelihood of what is known of her. That is the product over the laws of the weight
-- of what is known. In a law `right` (`mistaken`) any value may be known as any other: in place of a
-- row for each pair, a true value has the weight `same` of itself, and `other` times the frequency
-- of others.
{# drawn_pairs(listed=[1], mistaken=[2], secret=0), drawn_pairs(listed=[], mistaken=[1], secret=1) #}
CREATE OR REPLACE VIEW drawn_pairs AS
SELECT *
FROM (
    SELECT
        drawn_people.draw,
        {{ "coded.secret, coded.mass" if secret else "coded.weight, coded.heaviest, coded.people" }},
        1::HUGEINT
        {{ listed | each("* law_#.weight") }}
        {% for i in mistaken %}
        * CASE
            WHEN drawn_people.known_{{ i }} = coded.place_{{ i }} THEN law_{{ i }}.same
            ELSE seen_{{ i }}.frequency * law_{{ i }}.other
        END
        {% endfor %}
            AS likelihood
    FROM drawn_people
    {{ listed | each("INNER JOIN law_# ON drawn_people.known_# = law_#.known") }}
    INNER JOIN coded
        ON drawn_people.exact = coded.exact {{ listed | each("AND law_#.code = coded.place_#") }}
    {% for i in mistaken %}
    INNER JOIN law_{{ i }} ON coded.place_{{ i }} = law_{{ i }}.code
    INNER JOIN law_{{ i }} AS seen_{{ i }} ON drawn_people.known_{{ i }} = seen_{{ i }}.code
    {% endfor %}
) AS pairs
WHERE likelihood > 0;

-- One row per drawn person, about whose record it is: the weight of the likeliest one (of records
-- alike the heaviest), that of all, and how many are possible.
CREATE OR REPLACE VIEW weighed_records AS
SELECT
    draw,
    max(heaviest * likelihood) AS best,
    sum(weight * likelihood) AS total,
    sum(people) AS possible
FROM drawn_pairs
GROUP BY draw;

-- One row per drawn person, about her secret: the weight of the likeliest value, that of all, and how
-- many are possible.
CREATE OR REPLACE VIEW weighed_secrets AS
SELECT
    draw,
    max(mass) AS best,
    sum(mass) AS total,
    count(*) AS possible
FROM (
    SELECT
        draw,
        secret,
        sum(mass * likelihood) AS mass
    FROM drawn_pairs
    GROUP BY draw, secret
) AS secrets
GROUP BY draw;

-- One row per drawn person: the chance of the best guess, and whether it is certain.
CREATE OR REPLACE VIEW chances AS
SELECT
    draw,
    best::DOUBLE / total::DOUBLE AS chance,
    (possible = 1)::BIGINT AS certain
FROM weighed;

-- One row: how many people were drawn, the sum of the chances of the best guesses and that of their
-- squares (in parts of 2 to the power of -60), and how many of them are certain.
CREATE OR REPLACE VIEW estimate AS
SELECT
    count(*) AS draws,
    sum((chance * pow(2, 60))::HUGEINT) AS chances,
    sum((chance * chance * pow(2, 60))::HUGEINT) AS squares,
    sum(certain)::BIGINT AS certain
FROM chances;

-- One row per combination of what is known: the chance of the best guess, in parts of 2 to the power
-- of -60.
CREATE OR REPLACE VIEW final_worth AS
SELECT
    exact,
    place,
    (best::DOUBLE / total::DOUBLE * pow(2, 60))::HUGEINT AS worth
FROM known;

-- One row per combination before a quasi-identifier gave way: the expected chance of the best guess.
CREATE OR REPLACE VIEW earlier_worth AS
SELECT
    keys.exact,
    keys.place,
    keys.own,
    sum(law.weight * later.worth) // whole_weight AS worth
FROM (SELECT DISTINCT exact, place, own FROM state) AS keys
JOIN law ON law.code = keys.own
JOIN later
    ON later.exact = keys.exact AND later.own = law.known AND each(later.place = keys.place)
GROUP BY keys.exact, keys.place, keys.own;

-- The same, where a value may be mistaken for any other.
CREATE OR REPLACE VIEW earlier_mistaken_worth AS
SELECT
    keys.exact,
    keys.place,
    keys.own,
    sum(
        CASE WHEN choices.known = keys.own THEN law.same ELSE choices.frequency * law.other END
        * later.worth
    ) // whole_weight AS worth
FROM (SELECT DISTINCT exact, place, own FROM state) AS keys
JOIN law ON law.code = keys.own
JOIN choices ON choices.exact = keys.exact
JOIN later
    ON later.exact = keys.exact
        AND later.own = choices.known
        AND each(later.place = keys.place)
GROUP BY keys.exact, keys.place, keys.own;

-- One row per combination of all else that is known: the expected chance where the value is mistaken
-- for any one of the others, each by its frequency.
CREATE OR REPLACE VIEW sums AS
SELECT
    later.exact,
    later.place,
    coalesce(sum(law.frequency * later.worth), 0::HUGEINT)
    + coalesce(
        (everybody - sum(law.frequency)) * max(later.worth) FILTER (WHERE later.own = 0),
        0::HUGEINT
    ) AS worth
FROM later
LEFT JOIN law ON law.code = later.own
GROUP BY later.exact, later.place;

-- The same, where the quasi-identifier was the last and needed no pairs.
CREATE OR REPLACE VIEW last_mistaken_worth AS
SELECT
    keys.exact,
    keys.place,
    keys.own,
    (
        (law.same - law.frequency * law.other) * later.worth + law.other * sums.worth
    ) // whole_weight AS worth
FROM (SELECT DISTINCT exact, place, own FROM state) AS keys
JOIN law ON law.code = keys.own
JOIN later
    ON later.exact = keys.exact AND later.own = keys.own AND each(later.place = keys.place)
JOIN sums ON sums.exact = keys.exact AND each(sums.place = keys.place);

-- One row per combination of quasi-identifiers: the chance to tell whose record it is, with exact
-- knowledge.
CREATE OR REPLACE VIEW exact_chance AS
SELECT
    exact,
    place,
    heaviest::DOUBLE / weight::DOUBLE AS exact_success
FROM coded;

-- One row per combination of quasi-identifiers: the chance of the best guess of the secret, with
-- exact knowledge.
CREATE OR REPLACE VIEW exact_secret_chance AS
SELECT
    exact,
    place,
    max(mass)::DOUBLE / sum(mass)::DOUBLE AS exact_success
FROM state
GROUP BY exact, place;

-- One row per combination of quasi-identifiers: the expected chance of the best guess with noisy
-- knowledge, and the chance with exact knowledge.
CREATE OR REPLACE VIEW expected AS
SELECT
    exacts.exact,
    exacts.place,
    exacts.exact_success,
    worths.worth::DOUBLE / pow(2, 60) AS success
FROM exacts
JOIN worths ON worths.exact = exacts.exact AND each(worths.place = exacts.place);

-- One row per combination of quasi-identifiers: its success with exact knowledge, and the expected
-- one, at re-identification (0) and at each secret.
{# people_expected(qids=[1, 2], places=[1], secrets=1), people_expected(qids=[1], places=[], secrets=0) #}
CREATE OR REPLACE VIEW people_expected AS
SELECT
    {{ range(secrets + 1) | each("expected_#.exact_success AS exact_success_#,") }}
    {{ range(secrets + 1) | each("expected_#.success AS success_#,") }}
    {{ qids | each("coded.qid_#", ", ") }}
FROM coded
{% for j in range(secrets + 1) %}
INNER JOIN expected_{{ j }}
    ON coded.exact = expected_{{ j }}.exact
    {% for i in places %}
    AND coded.place_{{ i }} = expected_{{ j }}.place_{{ i }}
    {% endfor %}
{% endfor %};

-- One row per record, in the order of the input: its position, its key and, at re-identification (0)
-- and at each secret, the success with exact knowledge, and the expected one.
{# records_expected(key=0, as_text=0, secrets=0), records_expected(key=1, as_text=1, secrets=1) #}
CREATE OR REPLACE VIEW records_expected AS
SELECT
    everybody.record,
    {% if key %}
    everybody.key{{ "::VARCHAR" if as_text }} AS key,
    {% endif %}
    {{ range(secrets + 1) | each("people_expected.exact_success_#, people_expected.success_#", ", ") }}
FROM everybody
LEFT JOIN people_expected ON people_expected.qid IS NOT DISTINCT FROM everybody.qid
ORDER BY everybody.record;
