-- Noisy knowledge: people who share all quasi-identifiers, their values as numbers.

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
    secret,
    count(*)::HUGEINT AS weight
FROM microdata
GROUP BY qid, secret;

-- One row per combination of quasi-identifiers and value of the secret: what its records weigh.
CREATE OR REPLACE VIEW weighted_secret_combinations AS
SELECT
    qid,
    secret,
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
CREATE OR REPLACE VIEW exacts AS
SELECT
    row_number() OVER (ORDER BY place ASC NULLS LAST) AS exact,
    place
FROM (SELECT DISTINCT place FROM combinations) AS different;

-- One row per value of the secret: its number, from 1 in the order of the values.
CREATE OR REPLACE VIEW secret_numbers AS
SELECT
    row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code,
    secret
FROM (SELECT DISTINCT secret FROM secret_cells) AS different;

-- One row: what all records weigh, how many combinations there are, and the mean number of
-- combinations among which a person is after what is known exactly.
CREATE OR REPLACE VIEW sizes AS
SELECT
    sum(weight) AS weight,
    sum(combinations)::BIGINT AS combinations,
    sum(weight::DOUBLE * combinations) / sum(weight::DOUBLE) AS alike
FROM (
    SELECT
        exact,
        sum(weight) AS weight,
        count(*) AS combinations
    FROM coded
    GROUP BY exact
) AS groups;
