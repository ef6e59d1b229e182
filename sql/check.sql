-- Keys that several records of a log share, and people whom columns without a rule single out.
-- Below: what breaks a rule of a policy: no row, and the rule is met. Shares are compared with their limit,
-- the fraction upper / lower, by multiplying whole numbers, so that nothing is rounded.

-- One row: how many keys records have, and how many of these keys several records have. Records
-- without a key are nobody's.
CREATE OR REPLACE VIEW persons AS
SELECT
    count(*) AS people,
    count(*) FILTER (WHERE records > 1) AS several
FROM (
    SELECT
        key,
        count(*) AS records
    FROM keyed
    WHERE key IS NOT NULL
    GROUP BY key
) AS counted;

-- One row per column: how many people are alone in their block if it is known besides the
-- quasi-identifiers `qids`. All `columns`, further quasi-identifiers of one type, are counted at
-- once.
{# alone_with_each(qids=[1, 2], columns=[3, 4]), alone_with_each(qids=[1], columns=[2]) #}
CREATE OR REPLACE VIEW alone_with_each AS
SELECT
    number,
    count(*) FILTER (WHERE people = 1) AS singled_out
FROM (
    SELECT
        {{ qids | each("qid_#,") }}
        cell.number,
        count(*) AS people
    FROM (
        SELECT
            {{ qids | each("qid_#,") }}
            unnest([{{ columns | each("{'number': #, 'value': qid_#}", ", ") }}]) AS cell
        FROM microdata
    ) AS unfolded
    GROUP BY {{ qids | each("qid_#,") }} cell.number, cell.value
) AS counted
GROUP BY number;

-- One row per block of fewer people than required.
CREATE OR REPLACE VIEW small_blocks AS
SELECT
    qid,
    size
FROM blocks
WHERE size < required;

-- One row per block of fewer values of the secret than required, also if only reported values count.
CREATE OR REPLACE VIEW uniform_blocks AS
SELECT
    qid,
    size,
    "values",
    reported
FROM (
    SELECT
        qid,
        sum(people)::BIGINT AS size,
        count(*) AS "values",
        count(secret) AS reported
    FROM cells
    GROUP BY qid
) AS counted
WHERE "values" < required OR (reported > 0 AND reported < required);

-- One row per block in which the best guess is right more often than the limit: the weight of those
-- about whom it is right, over that of the block.
CREATE OR REPLACE VIEW exposed_blocks AS
SELECT
    qid,
    size,
    guessed AS numerator,
    weight AS denominator
FROM blocks
WHERE NOT coalesce(guessed::HUGEINT * lower <= weight::HUGEINT * upper, FALSE);

-- One row: all blocks together, their people and weights, and those in blocks that tell for certain.
CREATE OR REPLACE VIEW totals AS
SELECT
    count(*)::HUGEINT AS blocks,
    sum(size)::HUGEINT AS people,
    sum(weight)::HUGEINT AS weight,
    sum(guessed)::HUGEINT AS guessed,
    sum(CASE WHEN size = 1 THEN 1 ELSE 0 END)::HUGEINT AS singled_out,
    sum(CASE WHEN lone = 1 THEN size ELSE 0 END)::HUGEINT AS certain,
    sum(CASE WHEN lone = 1 THEN weight ELSE 0 END)::HUGEINT AS certain_weight
FROM blocks;

-- One row: what a rule bounds, as a fraction.
CREATE OR REPLACE VIEW share AS
SELECT
    part AS numerator,
    whole AS denominator
FROM totals;

-- One row: what a rule bounds, the difference that the release makes, as a fraction.
CREATE OR REPLACE VIEW increase AS
SELECT
    now.part - prior.part AS numerator,
    now.whole AS denominator
FROM totals AS now
CROSS JOIN prior_totals AS prior;

-- One row: what a rule bounds, the factor that the release makes, as a fraction.
CREATE OR REPLACE VIEW factor AS
SELECT
    now.part AS numerator,
    prior.part AS denominator
FROM totals AS now
CROSS JOIN prior_totals AS prior;

-- One row per value of a rule that is above its upper limit, or that cannot be compared.
CREATE OR REPLACE VIEW above AS
SELECT *
FROM measured
WHERE NOT coalesce(numerator * lower <= denominator * upper, FALSE);

-- One row per value of a rule that is below its lower limit, or that cannot be compared.
CREATE OR REPLACE VIEW below AS
SELECT *
FROM measured
WHERE NOT coalesce(numerator * lower >= denominator * upper, FALSE);

-- One row per group of people: they, their weight, and those in blocks that tell for certain. The
-- last column is the sum of their success, in whole parts of 10 to the power of -15, each part
-- rounded down.
CREATE OR REPLACE VIEW group_totals AS
SELECT
    members.member_of,
    sum(members.people)::HUGEINT AS people,
    sum(members.weight)::HUGEINT AS weight,
    sum(CASE WHEN blocks.size = 1 THEN members.people ELSE 0 END)::HUGEINT AS singled_out,
    sum(CASE WHEN blocks.lone = 1 THEN members.people ELSE 0 END)::HUGEINT AS certain,
    sum(CASE WHEN blocks.lone = 1 THEN members.weight ELSE 0 END)::HUGEINT AS certain_weight,
    sum(
        (members.weight::HUGEINT * blocks.guessed::HUGEINT * 1000000000000000::HUGEINT)
        // blocks.weight::HUGEINT
    )::HUGEINT AS guessed
FROM members
JOIN blocks ON blocks.qid IS NOT DISTINCT FROM members.qid
GROUP BY members.member_of;

-- One row per group of people: what a rule bounds, as a fraction.
CREATE OR REPLACE VIEW group_share AS
SELECT
    member_of,
    part AS numerator,
    whole AS denominator
FROM group_totals;

-- One row per group of people: their mean success, as a fraction.
CREATE OR REPLACE VIEW group_success AS
SELECT
    member_of,
    guessed AS numerator,
    weight * 1000000000000000::HUGEINT AS denominator
FROM group_totals;

-- One row per group of people: their mean success over that without the release, as a fraction.
CREATE OR REPLACE VIEW group_factor AS
SELECT
    now.member_of,
    now.guessed * prior.weight AS numerator,
    now.weight * prior.guessed * 1000000000000000::HUGEINT AS denominator
FROM group_totals AS now
CROSS JOIN prior_totals AS prior;

-- One row per group of people in blocks in which the best guess is right more often than the limit:
-- how many of them are.
CREATE OR REPLACE VIEW exposed_groups AS
SELECT
    members.member_of,
    sum(members.people)::BIGINT AS people
FROM members
JOIN blocks ON blocks.qid IS NOT DISTINCT FROM members.qid
WHERE NOT coalesce(blocks.guessed::HUGEINT * lower <= blocks.weight::HUGEINT * upper, FALSE)
GROUP BY members.member_of;

-- One row if some people report the secret and others miss it; else there is one reading of rules.
CREATE OR REPLACE VIEW missed AS
SELECT count(*) AS people
FROM microdata
HAVING count(secret) > 0 AND count(secret) < count(*);

-- One row if no record is counted: no rule can then be judged.
CREATE OR REPLACE VIEW no_people AS
SELECT count(*) AS records
FROM microdata
HAVING count(*) = 0;

-- One row if records have * in every quasi-identifier: rules count them as everybody, not as a block.
CREATE OR REPLACE VIEW suppressed_records AS
SELECT count(*) AS records
FROM microdata
WHERE hidden
HAVING count(*) > 0;

-- One row if a column that numbers people has a number in several records.
CREATE OR REPLACE VIEW several_records AS
SELECT
    "values",
    records
FROM (
    SELECT
        count(DISTINCT person) AS "values",
        count(person) AS records
    FROM numbered
) AS counted
WHERE "values" < records AND (is_key = 1 OR records <= "values" * "values");

-- One row if weights cannot be used: how many are missing or negative.
CREATE OR REPLACE VIEW unusable_weights AS
SELECT count(*) AS records
FROM weights
WHERE weight IS NULL OR weight < 0
HAVING count(*) > 0;
