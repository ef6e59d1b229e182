-- Noisy knowledge: the expected success of each person, from what is known back to true values.

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
