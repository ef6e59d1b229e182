-- The same views where people have weights, or beliefs take the place of frequencies.

-- One row per block and value of the secret that occurs in it:
-- how many people have it, their weight together, and the heaviest of them.
CREATE OR REPLACE VIEW cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    sum(weight) AS weight,
    max(weight) AS heaviest
FROM microdata
GROUP BY qid, secret;

-- One row per block, the people whom the adversary cannot tell apart:
-- how many they are, their weight, the weight of the most likely value of the secret,
-- the weight of the most likely person, and how many values occur.
CREATE OR REPLACE VIEW blocks AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    max(weight) AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;

-- One row: the multiplicative Bayes capacity as people / everybody, the sum over blocks of the
-- largest share that a value of the secret has there of all its weight, in whole parts of 2 to
-- the power of -80.
CREATE OR REPLACE VIEW capacity AS
SELECT
    pow(2, 80)::HUGEINT AS everybody,
    sum((share * pow(2, 80))::HUGEINT) AS people
FROM (
    SELECT
        cells.qid,
        max(cells.weight / prior_cells.weight) AS share
    FROM cells
    JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
    GROUP BY cells.qid
) AS shares;

-- One row per success of the best guess: how many people stand in blocks with that success.
CREATE OR REPLACE VIEW chances AS
SELECT
    (mode // shared) / (weight // shared) / (SELECT scale FROM asked) AS chance,
    100 * (mode // shared) / (weight // shared) / (SELECT scale FROM asked) AS percent,
    sum(size)::BIGINT AS people
FROM (SELECT *, gcd(mode::HUGEINT, weight::HUGEINT) AS shared FROM blocks) AS blocks
GROUP BY chance, percent;

-- One row per block to be shown: how many of its people have each value of the secret,
-- the value of most weight first.
CREATE OR REPLACE VIEW counts AS
SELECT
    chosen.qid,
    list(
        {'value': cells.secret, 'records': cells.people}
        ORDER BY cells.weight DESC, cells.secret ASC NULLS LAST
    ) AS counts
FROM chosen
JOIN cells ON cells.qid IS NOT DISTINCT FROM chosen.qid
GROUP BY chosen.qid;

-- One row per block, value of the secret and group of people: how many they are, their weight.
CREATE OR REPLACE VIEW members AS
SELECT
    qid,
    secret,
    member_of,
    count(*) AS people,
    sum(weight) AS weight
FROM microdata
GROUP BY qid, secret, member_of;

-- One row per group of people: see capacity, for the people of the group.
CREATE OR REPLACE VIEW group_capacity AS
SELECT
    member_of::VARCHAR AS member_of,
    pow(2, 80)::HUGEINT AS everybody,
    sum((share * pow(2, 80))::HUGEINT) AS people
FROM (
    SELECT
        member_of,
        qid,
        max(weight / everybody) AS share
    FROM (
        SELECT *, sum(weight) OVER (PARTITION BY member_of, secret) AS everybody FROM members
    ) AS members
    GROUP BY member_of, qid
) AS shares
GROUP BY member_of;

-- One row per block: the key of the record that the adversary guesses to be the target's,
-- the heaviest, and the smallest key of those that are equally heavy.
CREATE OR REPLACE VIEW owner_guesses AS
SELECT
    blocks.qid,
    min(microdata.key) AS best_guess
FROM blocks
JOIN microdata ON
    microdata.qid IS NOT DISTINCT FROM blocks.qid AND microdata.weight = blocks.heaviest
GROUP BY blocks.qid;

-- One row per block and group of people: how many they are, and their weight.
CREATE OR REPLACE VIEW owner_members AS
SELECT
    qid,
    member_of,
    count(*) AS people,
    sum(weight) AS weight
FROM microdata
GROUP BY qid, member_of;

-- One row per person when the secret is whose record it is (re-identification):
-- every person is a value of its own.
CREATE OR REPLACE VIEW people AS
SELECT
    qid,
    1::BIGINT AS people,
    weight,
    weight AS heaviest
FROM microdata;

-- One row per size and number of values of a block, with totals over such blocks:
-- weights differ from person to person, so there may be as many modes as blocks.
CREATE OR REPLACE VIEW profile AS
SELECT
    size,
    "values",
    count(*) AS blocks,
    sum(weight) AS weight,
    sum(mode) AS mode,
    sum(heaviest) AS heaviest,
    max(mode / weight) AS chance,
    max(heaviest / weight) AS owner_chance
FROM blocks
GROUP BY size, "values";

-- One row, the answer: success before (prior) and after (posterior) the release.
-- `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people
-- attacked: everybody, or the look-alikes of one person. Only people of positive weight count.
CREATE OR REPLACE VIEW answer AS
SELECT
    before.people AS records,
    after.people AS matches,
    after.blocks,
    after.singled_out,
    before.deterministic AS prior_deterministic,
    after.deterministic AS posterior_deterministic,
    before.probabilistic AS prior_probabilistic,
    after.probabilistic AS posterior_probabilistic
FROM (
    SELECT
        sum(size * blocks)::BIGINT AS people,
        sum(blocks)::BIGINT AS blocks,
        coalesce(sum(blocks) FILTER (WHERE size = 1), 0)::BIGINT AS singled_out,
        coalesce(sum(weight) FILTER (WHERE "values" = 1), 0) / sum(weight) AS deterministic,
        sum(mode) / sum(weight) / (SELECT scale FROM asked) AS probabilistic
    FROM profile
) AS after
CROSS JOIN (
    SELECT
        sum(size * blocks)::BIGINT AS people,
        coalesce(sum(weight) FILTER (WHERE "values" = 1), 0) / sum(weight) AS deterministic,
        sum(mode) / sum(weight) / (SELECT scale FROM asked) AS probabilistic
    FROM prior
) AS before;

-- One row: how uncertain the adversary remains in the blocks. `entropy` is their mean Shannon
-- entropy in bits, `guessing` the mean number of guesses. Sums of fractions are taken in whole
-- parts of 2 to the power of -80, so that their order is nothing.
CREATE OR REPLACE VIEW uncertainty AS
SELECT
    sum(
        (
            blocks * size::DOUBLE / everybody::DOUBLE * pow(2, 80)
            * list_sum(list_transform(counts, lambda c: c / size * log2(size / c)))
        )::HUGEINT
    ) / pow(2, 80) AS entropy,
    sum(
        (
            blocks * size::DOUBLE / everybody::DOUBLE * pow(2, 80)
            * list_sum(list_transform(counts, lambda c, i: c / size * i))
        )::HUGEINT
    ) / pow(2, 80) AS guessing
FROM (
    SELECT
        counts,
        blocks,
        list_sum(counts) AS size,
        (SELECT sum(blocks * list_sum(counts)) FROM spectra) AS everybody
    FROM spectra
) AS spectra;
