-- The people as blocks: those whom the adversary cannot tell apart, and her best guess in each.

-- One row per block and value of the secret that occurs in it:
-- how many of the block's people have that value, and what they weigh (here one each).
CREATE OR REPLACE VIEW cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    count(*) AS weight,
    1::BIGINT AS heaviest
FROM microdata
GROUP BY qid, secret;

-- One row per block and reported value of the secret: its cells without the people who miss it.
CREATE OR REPLACE VIEW reported_cells AS
SELECT *
FROM cells
WHERE secret IS NOT NULL;

-- One row: the people in blocks in which nobody reports the secret, of whom it is certain that it is
-- missing.
CREATE OR REPLACE VIEW unreported AS
SELECT coalesce(sum(size), 0)::BIGINT AS people
FROM (
    SELECT
        qid,
        sum(people)::BIGINT AS size
    FROM cells
    GROUP BY qid
    HAVING count(secret) = 0
) AS blocks;

-- One row per block, the people whom the adversary cannot tell apart:
-- how many they are, what they weigh (here one each), how many share the most frequent value of
-- the secret (the adversary's best guess is right for these), how many values occur.
CREATE OR REPLACE VIEW blocks AS
SELECT
    qid,
    sum(weight)::BIGINT AS size,
    sum(weight)::BIGINT AS weight,
    max(weight) AS mode,
    1::BIGINT AS heaviest,
    count(*) AS "values"
FROM cells
GROUP BY qid;

-- One row per block when the secret is whose record it is (re-identification):
-- every person of the block is a value of its own, so the best guess is right for one.
CREATE OR REPLACE VIEW owners AS
SELECT
    qid,
    count(*) AS size,
    count(*) AS weight,
    1::BIGINT AS mode,
    1::BIGINT AS heaviest,
    count(*) AS "values"
FROM microdata
GROUP BY qid;

-- One row per block when no secret is asked about: how many people stand in it, and the chance
-- to tell whose record is whose.
CREATE OR REPLACE VIEW crowds AS
SELECT
    qid,
    size,
    heaviest / weight AS owner_success
FROM blocks;

-- One row per block: the adversary's best guess, the most frequent value of the secret;
-- of equally frequent ones the smallest, a missing value last.
CREATE OR REPLACE VIEW guesses AS
SELECT
    blocks.qid,
    min(cells.secret) AS best_guess
FROM blocks
JOIN cells ON cells.qid IS NOT DISTINCT FROM blocks.qid AND cells.weight = blocks.mode
GROUP BY blocks.qid;

-- One row per block: what it reveals about each of its people. `success` is the chance that the
-- best guess of the secret is right, `owner_success` that the guess whose record it is, is right.
CREATE OR REPLACE VIEW revealed AS
SELECT
    blocks.qid,
    blocks.size,
    blocks."values",
    blocks.mode / blocks.weight AS success,
    blocks.heaviest / blocks.weight AS owner_success,
    guesses.best_guess
FROM blocks
JOIN guesses ON guesses.qid IS NOT DISTINCT FROM blocks.qid;

-- One row: how many people the blocks hold, and how many of them are alone in their block.
CREATE OR REPLACE VIEW uniques AS
SELECT
    coalesce(sum(size), 0)::BIGINT AS people,
    count(*) FILTER (WHERE size = 1) AS singled_out
FROM blocks;
