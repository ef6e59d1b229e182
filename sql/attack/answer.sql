-- How well the adversary does: kinds of blocks, success over the people, before and after.

-- One row per kind of block: how many blocks have that size, that mode and
-- that many values of the secret. Every measure is computed from this table.
CREATE OR REPLACE VIEW profile AS
SELECT
    size,
    mode,
    "values",
    count(*) AS blocks
FROM blocks
GROUP BY size, mode, "values";

-- One row per success of the best guess: how many people stand in blocks with that success.
CREATE OR REPLACE VIEW chances AS
SELECT
    mode / (size * (SELECT scale FROM asked)) AS chance,
    100 * mode / (size * (SELECT scale FROM asked)) AS percent,
    sum(size * blocks)::BIGINT AS people
FROM profile
GROUP BY chance, percent;

-- One row per block of records that are not suppressed, and one for the people with suppressed
-- records: everyone, so that they are guessed as without the release.
CREATE OR REPLACE VIEW blocks_of_all AS
SELECT *
FROM (
    SELECT
        qid,
        size,
        weight,
        mode,
        heaviest,
        "values"
    FROM blocks
    UNION ALL
    SELECT
        qid,
        everyone.size,
        everyone.weight,
        everyone.mode,
        everyone.heaviest,
        everyone."values"
    FROM (SELECT qid FROM hidden GROUP BY qid) AS suppressed
    CROSS JOIN prior_blocks AS everyone
) AS every_block;

-- One row per block and value of the secret that occurs in it, everyone among the blocks.
CREATE OR REPLACE VIEW cells_of_all AS
SELECT *
FROM (
    SELECT
        qid,
        secret,
        people,
        weight,
        heaviest
    FROM cells
    UNION ALL
    SELECT
        qid,
        everyone.secret,
        everyone.people,
        everyone.weight,
        everyone.heaviest
    FROM (SELECT qid FROM hidden GROUP BY qid) AS suppressed
    CROSS JOIN prior_cells AS everyone
) AS every_cell;

-- One row per success of the best guess: how many people stand in blocks with that success. About
-- those with suppressed records it is the success without the release.
CREATE OR REPLACE VIEW chances_of_all AS
SELECT
    chance,
    percent,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        chance,
        percent,
        people
    FROM chances
    UNION ALL
    SELECT
        chance,
        percent,
        people - (SELECT coalesce(sum(people), 0)::BIGINT FROM chances) AS people
    FROM prior_chances
) AS every_chance
GROUP BY chance, percent;

-- One row per percent of success that occurs, rounded half to even: how many people have it.
CREATE OR REPLACE VIEW histogram AS
SELECT
    round_even(percent, 0)::INTEGER AS bin,
    sum(people)::BIGINT AS individuals
FROM chances
GROUP BY bin;

-- One row per threshold asked for: how many people have at least that success.
CREATE OR REPLACE VIEW thresholds AS
SELECT
    wanted.threshold,
    coalesce(sum(people) FILTER (WHERE chance >= wanted.threshold), 0)::BIGINT AS individuals
FROM chances
CROSS JOIN (SELECT unnest((SELECT thresholds FROM asked)) AS threshold) AS wanted
GROUP BY wanted.threshold;

-- One row per quantile asked for: the least success that this share of the people do not exceed.
CREATE OR REPLACE VIEW quantiles AS
SELECT
    wanted.quantile,
    min(chance) AS success
FROM (
    SELECT
        chance,
        sum(people) OVER (ORDER BY chance ASC)::BIGINT AS upto,
        sum(people) OVER ()::BIGINT AS everybody
    FROM chances
) AS ranked
CROSS JOIN (SELECT unnest((SELECT quantiles FROM asked)) AS quantile) AS wanted
WHERE upto >= wanted.quantile * everybody
GROUP BY wanted.quantile;

-- One row, the answer: success before (prior) and after (posterior) the release.
-- `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people
-- attacked: everybody, or the look-alikes of one person.
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
        coalesce(sum(size * blocks) FILTER (WHERE "values" = 1), 0) / sum(size * blocks)
            AS deterministic,
        sum(mode * blocks) / sum(size * blocks) / (SELECT scale FROM asked) AS probabilistic
    FROM profile
) AS after
CROSS JOIN (
    SELECT
        sum(size * blocks)::BIGINT AS people,
        coalesce(sum(size * blocks) FILTER (WHERE "values" = 1), 0) / sum(size * blocks)
            AS deterministic,
        sum(mode * blocks) / sum(size * blocks) / (SELECT scale FROM asked) AS probabilistic
    FROM prior
) AS before;
