-- Groups of people, who of them is guessed right, and whom an adversary names who is sure.

-- One row per block, value of the secret and group of people: how many they are.
CREATE OR REPLACE VIEW members AS
SELECT
    qid,
    secret,
    member_of,
    count(*) AS people,
    count(*) AS weight
FROM microdata
GROUP BY qid, secret, member_of;

-- One row per block and group of people: how many they are.
CREATE OR REPLACE VIEW owner_members AS
SELECT
    qid,
    member_of,
    count(*) AS people,
    count(*) AS weight
FROM microdata
GROUP BY qid, member_of;

-- One row per group of people: how many they are, how many are alone in their block, for how many
-- the secret is certain, and the mean and the worst success of the best guess about them. The
-- adversary knows as much as ever: blocks are those of everybody.
CREATE OR REPLACE VIEW groups AS
SELECT
    members.member_of::VARCHAR AS member_of,
    sum(members.people)::BIGINT AS individuals,
    coalesce(sum(members.people) FILTER (WHERE blocks.size = 1), 0)::BIGINT AS singled_out,
    coalesce(sum(members.people) FILTER (WHERE blocks."values" = 1), 0)::BIGINT AS certain,
    coalesce(sum(members.weight) FILTER (WHERE blocks."values" = 1), 0) / sum(members.weight)
        AS deterministic,
    sum(
        (
            members.weight::DOUBLE / members.everybody::DOUBLE * pow(2, 60)
            * (blocks.mode / blocks.weight / (SELECT scale FROM asked))
        )::HUGEINT
    ) / pow(2, 60) AS probabilistic,
    max(blocks.mode / blocks.weight) / (SELECT scale FROM asked) AS worst_case
FROM (SELECT *, sum(weight) OVER (PARTITION BY member_of) AS everybody FROM members) AS members
JOIN blocks ON blocks.qid IS NOT DISTINCT FROM members.qid
GROUP BY members.member_of;

-- One row per group of people: the share of them whose own value of the secret is the best guess
-- in their block.
CREATE OR REPLACE VIEW guessed_right AS
SELECT
    members.member_of::VARCHAR AS member_of,
    coalesce(
        sum(members.weight) FILTER (WHERE members.secret IS NOT DISTINCT FROM guesses.best_guess), 0
    ) / sum(members.weight) AS guessed_right
FROM members
JOIN guesses ON guesses.qid IS NOT DISTINCT FROM members.qid
GROUP BY members.member_of;

-- One row per group of people and number of the group's people that share a value of the secret: see
-- capacity. The capacity for the people of a group is the sum of people / everybody.
CREATE OR REPLACE VIEW group_capacity AS
SELECT
    member_of::VARCHAR AS member_of,
    -best.everybody AS everybody,
    sum(best.people) AS people
FROM (
    SELECT
        member_of,
        qid,
        max({'share': weight / everybody, 'everybody': -everybody, 'people': weight}) AS best
    FROM (
        SELECT *, sum(weight) OVER (PARTITION BY member_of, secret)::BIGINT AS everybody FROM members
    ) AS members
    GROUP BY member_of, qid
) AS shares
GROUP BY member_of, best.everybody;

-- One row per group of people if the secret is whose record it is: the number of blocks in which
-- people of the group stand.
CREATE OR REPLACE VIEW owner_group_capacity AS
SELECT
    member_of::VARCHAR AS member_of,
    1::BIGINT AS everybody,
    count(*) AS people
FROM owner_members
GROUP BY member_of;

-- One row per block: see blocks, with or without weights. `usual` is the weight of its people who have
-- the value that is guessed of everybody without the release.
CREATE OR REPLACE VIEW blocks_with_usual AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    max(weight) AS mode,
    count(*) AS "values",
    coalesce(
        sum(weight) FILTER (
            WHERE secret IS NOT DISTINCT FROM (SELECT best_guess FROM prior_guesses)
        ),
        0
    ) AS usual
FROM cells
GROUP BY qid;

-- The same if the secret is whose record it is. Without the release, no record is likelier than the
-- heaviest of all.
CREATE OR REPLACE VIEW owner_blocks_with_usual AS
SELECT
    size,
    weight,
    heaviest AS mode,
    NULL::BIGINT AS usual
FROM blocks;

-- One row per kind of block: see profile, and how many people in such blocks have the value that is
-- guessed of everybody without the release.
CREATE OR REPLACE VIEW profile_with_usual AS
SELECT
    size,
    mode,
    "values",
    count(*) AS blocks,
    sum(usual)::BIGINT AS usual
FROM blocks_with_usual
GROUP BY size, mode, "values";

-- One row per success of the best guess about a secret, rounded down to 0.1 %, and number of required
-- thresholds that it reaches: the least of these successes, how many people stand in blocks with
-- them, what they weigh, the weight of those about whom the best guess is right, and of those who
-- have the value that is guessed of everybody without the release. With weights there may be as many
-- successes as blocks; without, the profile tells all of this.
CREATE OR REPLACE VIEW claims AS
SELECT
    min(chance) AS chance,
    sum(size)::BIGINT AS people,
    sum(weight) AS weight,
    sum(mode) AS correct,
    sum(usual) AS usual
FROM (
    SELECT
        *,
        (mode // shared) / (weight // shared) AS chance
    FROM (SELECT *, gcd(mode::HUGEINT, weight::HUGEINT) AS shared FROM blocks_with_usual) AS blocks
) AS chances
GROUP BY
    floor(1000 * chance),
    len(list_filter((SELECT thresholds FROM asked), lambda t: chance >= t));
