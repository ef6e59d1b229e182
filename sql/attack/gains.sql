-- What a guess is worth to the adversary, for each kind of gain function.

-- One row per block for an adversary who may guess several times: `mode` is the weight of her
-- best guesses together.
CREATE OR REPLACE VIEW tries AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    CASE
        WHEN count(*) <= (SELECT tries FROM asked) THEN sum(weight)
        ELSE list_sum(max(weight, (SELECT least(tries, 999999) FROM asked)))
    END AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;

-- One row per block for an adversary who may guess several times whose record it is.
CREATE OR REPLACE VIEW owner_tries AS
SELECT
    qid,
    size,
    weight,
    least(size, (SELECT tries FROM asked)) AS mode,
    heaviest,
    "values"
FROM blocks;

-- One row per block for an adversary who pays for a wrong guess and may abstain: `mode` is what
-- her best guess gains, times `scale`; nothing where it would lose.
CREATE OR REPLACE VIEW penalty AS
SELECT
    qid,
    size,
    weight,
    greatest(0, mode * (SELECT scale + penalty FROM asked) - weight * (SELECT penalty FROM asked))
        AS mode,
    heaviest,
    "values"
FROM blocks;

-- One row per value of the secret, a number: the highest value within the tolerance above it.
CREATE OR REPLACE VIEW nearest AS
SELECT
    numbers.code,
    numbers.value,
    CASE
        WHEN above.code IS NULL THEN numbers.code
        WHEN above.number = numbers.number THEN above.code
        WHEN above.number - numbers.number <= (SELECT tolerance FROM asked) THEN above.code
        ELSE above.code - 1
    END AS furthest
FROM numbers
ASOF LEFT JOIN numbers AS above
    ON numbers.number + (SELECT tolerance FROM asked) >= above.number;

-- One row per value of the secret, a number: the highest value that a guess still hits which hits
-- this one, too. Guesses are values of the secret and hit what is within the tolerance: the best
-- guess for this value as the lowest is the furthest above it, and hits the furthest above that.
CREATE OR REPLACE VIEW reaches AS
SELECT
    nearest.code,
    nearest.value,
    beyond.furthest AS reach
FROM nearest
JOIN nearest AS beyond ON beyond.code = nearest.furthest;

-- One row per block for an adversary whose guess of a number is right within a tolerance: `mode`
-- is the weight of all values that her best guess hits.
CREATE OR REPLACE VIEW tolerance AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    max(hit) AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values"
FROM (
    SELECT
        cells.qid,
        cells.people,
        cells.weight,
        cells.heaviest,
        sum(cells.weight) OVER (
            PARTITION BY cells.qid
            ORDER BY reaches.code ASC
            RANGE BETWEEN CURRENT ROW AND (reaches.reach - reaches.code) FOLLOWING
        ) AS hit
    FROM cells
    JOIN reaches ON reaches.value IS NOT DISTINCT FROM cells.secret
) AS hits
GROUP BY qid;

-- One row: whether a gain function is complete. How many pairs of a guess and a value it has, how
-- many different ones, how many guesses and values; how many gains are no number; the lowest gain,
-- the highest, and the highest that a guess has at its worst.
CREATE OR REPLACE VIEW pairs_check AS
SELECT
    coalesce(sum(pairs), 0)::BIGINT AS pairs,
    coalesce(sum(different), 0)::BIGINT AS different,
    count(*) AS guesses,
    (SELECT count(*) FROM secret_values) AS "values",
    coalesce(sum(unusable), 0)::BIGINT AS unusable,
    min(lowest) AS lowest,
    max(highest) AS highest,
    max(lowest) AS safest
FROM (
    SELECT
        guess,
        count(*) AS pairs,
        count(DISTINCT code) AS different,
        count(*) FILTER (WHERE gain IS NULL OR NOT isfinite(gain)) AS unusable,
        min(gain) AS lowest,
        max(gain) AS highest
    FROM pairs
    GROUP BY guess
) AS guesses;

-- One row: how many lines of the user's file name a value that the secret does not have, and how many
-- lines `*` there are besides, which stand for the values that no line names.
CREATE OR REPLACE VIEW unknown_values AS
SELECT
    count(*) FILTER (WHERE raw IS DISTINCT FROM '*') AS lines,
    count(*) FILTER (WHERE raw = '*') AS rest
FROM (
    SELECT listed.raw
    FROM listed
    LEFT JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM listed.value
    WHERE secret_values.code IS NULL OR (listed.value IS NULL AND listed.raw IS NOT NULL)
) AS unknown;

-- One row: whether computed gains are numbers. How many are not; the lowest gain, and the highest.
CREATE OR REPLACE VIEW gains_check AS
SELECT
    count(*) FILTER (WHERE gain IS NULL OR NOT isfinite(gain)) AS unusable,
    min(gain) AS lowest,
    max(gain) AS highest
FROM pairs;

-- One row: the factor that turns gains into whole numbers of at most 60 bits, fewer where weights
-- take many, so that sums of them are exact and of no order: 10 to the power of 9 if all gains have
-- at most 9 decimals and fit, else a power of two.
CREATE OR REPLACE VIEW scale AS
SELECT
    CASE
        WHEN short AND most * pow(10, 9) < pow(2, bits) THEN pow(10, 9)
        ELSE pow(2, bits - coalesce(ceil(log2(nullif(most, 0))), 0))
    END AS scale
FROM (
    SELECT
        max(abs(gain)) AS most,
        bool_and(round(gain, 9) = gain) AS short,
        least(60, 120 - ceil(log2((SELECT sum(weight)::DOUBLE FROM prior_cells)))) AS bits
    FROM pairs
) AS gains;

-- One row per guess: what it gains from most values of the secret (from a sample of them, where
-- there are many), times `scale`.
CREATE OR REPLACE VIEW usual_gains AS
SELECT
    guess,
    mode(round(gain * (SELECT scale FROM scale))::HUGEINT ORDER BY gain) AS usual
FROM pairs
WHERE code % greatest(1, (SELECT count(*) FROM secret_values) // 128) = 0
GROUP BY guess;

-- One row per guess: what it usually gains, and its rank by that, the best first. One guess is to
-- abstain: it gains nothing.
CREATE OR REPLACE VIEW stakes AS
SELECT
    guess,
    usual,
    row_number() OVER (ORDER BY usual DESC, guess ASC NULLS LAST) AS rank
FROM (
    SELECT
        guess,
        usual
    FROM usual_gains
    UNION ALL
    SELECT
        0 AS guess,
        0 AS usual
) AS guesses;

-- One row per guess of a matrix: what it usually gains, and its rank by that, the best first.
CREATE OR REPLACE VIEW matrix_stakes AS
SELECT
    guess,
    usual,
    row_number() OVER (ORDER BY usual DESC, guess ASC NULLS LAST) AS rank
FROM usual_gains;

-- One row per guess, a value of the secret, and one to abstain: each usually gains nothing.
CREATE OR REPLACE VIEW worth_stakes AS
SELECT
    guess,
    0::HUGEINT AS usual,
    row_number() OVER (ORDER BY guess ASC) AS rank
FROM (
    SELECT guess FROM pairs
    UNION ALL
    SELECT 0 AS guess
) AS guesses;

-- One row per guess and value of the secret of which it gains something unusual: how much more
-- than usual, times `scale`.
CREATE OR REPLACE VIEW unusual AS
SELECT
    stakes.rank,
    pairs.code,
    round(pairs.gain * (SELECT scale FROM scale))::HUGEINT - stakes.usual AS extra
FROM pairs
JOIN stakes ON stakes.guess IS NOT DISTINCT FROM pairs.guess
WHERE round(pairs.gain * (SELECT scale FROM scale))::HUGEINT <> stakes.usual;

-- One row per block and guess that gains something unusual from a value that occurs there: how
-- much more than usual, summed over the block's people.
CREATE OR REPLACE VIEW expected AS
SELECT
    cells.qid,
    unusual.rank,
    sum(cells.weight * unusual.extra) AS extra
FROM cells
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells.secret
JOIN unusual ON unusual.code = secret_values.code
GROUP BY cells.qid, unusual.rank;

-- One row: how many sums of a block, a guess and a value have to be added up.
CREATE OR REPLACE VIEW effort AS
SELECT coalesce(sum(cells_of.blocks * guesses_of.guesses), 0)::BIGINT AS additions
FROM (SELECT secret, count(*) AS blocks FROM cells GROUP BY secret) AS cells_of
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells_of.secret
JOIN (SELECT code, count(*) AS guesses FROM unusual GROUP BY code) AS guesses_of
    ON guesses_of.code = secret_values.code;

-- One row per block for an adversary with a gain for every guess and value: `mode` is what her
-- best guess gains, times `scale`. It is one of the guesses that gain something unusual there, or
-- the usually best one of the others, whose rank is the first that is missing.
CREATE OR REPLACE VIEW staked AS
SELECT
    touched.qid,
    touched.size,
    touched.weight,
    greatest(touched.best, others.usual * touched.weight) AS mode,
    touched.heaviest,
    touched."values"
FROM (
    SELECT
        blocks.qid,
        blocks.size,
        blocks.weight,
        blocks.heaviest,
        blocks."values",
        max(expected.extra + stakes.usual * blocks.weight) AS best,
        list(expected.rank ORDER BY expected.rank) FILTER (WHERE expected.rank IS NOT NULL)
            AS ranks
    FROM blocks
    LEFT JOIN expected ON expected.qid IS NOT DISTINCT FROM blocks.qid
    LEFT JOIN stakes ON stakes.rank = expected.rank
    GROUP BY blocks.qid, blocks.size, blocks.weight, blocks.heaviest, blocks."values"
) AS touched
LEFT JOIN stakes AS others
    ON others.rank = coalesce(
        nullif(list_position(list_transform(touched.ranks, lambda r, i: r = i), FALSE), 0),
        len(touched.ranks) + 1,
        1
    );
