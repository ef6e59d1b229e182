-- One person: who agrees with her in which facts, and which record is guessed.

-- One row per set of quasi-identifiers in which people agree with the target, as a number of bits:
-- how many people, and the first and the last of the numbered values of the secret they have.
CREATE OR REPLACE VIEW agreements AS
SELECT
    agreement.mask,
    count(*) AS people,
    min(secret_values.code) AS first_code,
    max(secret_values.code) AS last_code
FROM agreement
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM agreement.secret
GROUP BY agreement.mask;

-- One row per set of quasi-identifiers in which people agree with the target, as a number of bits:
-- how many people.
CREATE OR REPLACE VIEW owner_agreements AS
SELECT
    mask,
    count(*) AS people
FROM agreement
GROUP BY mask;

-- One row per value of the secret: how many people have it, how many of those who agree with the
-- target in the most facts, and which facts these are, as a number of bits.
CREATE OR REPLACE VIEW likelihoods AS
SELECT
    secret::VARCHAR AS value,
    count(*) AS people,
    count(*) FILTER (WHERE mask = (SELECT max(mask) FROM agreement)) AS alike,
    (SELECT max(mask) FROM agreement) AS facts
FROM agreement
GROUP BY secret
ORDER BY secret ASC NULLS LAST;

-- One row per block: the key of the record that the adversary guesses to be the target's,
-- the smallest of those that are equally likely.
CREATE OR REPLACE VIEW owner_guesses AS
SELECT
    qid,
    min(key) AS best_guess
FROM microdata
GROUP BY qid;
