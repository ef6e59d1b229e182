-- The people whom an adversary names who speaks only when she is sure, and the same people before.

-- One row per block: see blocks, with or without weights. `usual` is the weight of its people who have
-- the value that is guessed of everybody without the release.
CREATE OR REPLACE VIEW blocks_with_usual AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(weight) AS weight,
    max(weight) AS mode,
    max(heaviest) AS heaviest,
    count(*) AS "values",
    coalesce(
        sum(weight) FILTER (
            WHERE secret IS NOT DISTINCT FROM (SELECT best_guess FROM prior_guesses)
        ),
        0
    ) AS usual
FROM cells
GROUP BY qid;

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

-- The same if the secret is whose record it is. Without the release, no record is likelier than the
-- heaviest of all.
CREATE OR REPLACE VIEW owner_claims AS
SELECT
    min(chance) AS chance,
    sum(size)::BIGINT AS people,
    sum(weight) AS weight,
    sum(heaviest) AS correct,
    NULL::BIGINT AS usual
FROM (
    SELECT
        *,
        (heaviest // shared) / (weight // shared) AS chance
    FROM (SELECT *, gcd(heaviest::HUGEINT, weight::HUGEINT) AS shared FROM blocks) AS blocks
) AS chances
GROUP BY
    floor(1000 * chance),
    len(list_filter((SELECT thresholds FROM asked), lambda t: chance >= t));
