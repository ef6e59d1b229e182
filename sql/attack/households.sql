-- Several records: the risk of a household through its members, and people of whom one record is known.

-- One row per person: her household, and the chance that the best guess about her is right.
CREATE OR REPLACE VIEW housed AS
SELECT
    microdata.household,
    blocks.mode / blocks.size AS chance
FROM microdata
JOIN blocks ON blocks.qid IS NOT DISTINCT FROM microdata.qid;

-- One row per person with all her records, and household of hers: the same.
CREATE OR REPLACE VIEW housed_people AS
SELECT
    unnest(coalesce(microdata.household, [NULL])) AS household,
    blocks.mode / blocks.size AS chance
FROM microdata
JOIN blocks ON blocks.qid IS NOT DISTINCT FROM microdata.qid;

-- One row per household: its people, whether the best guess about one of them is certain, the
-- chance that it is right about some member if the guesses are independent, and the bounds of that
-- chance for any dependence. Logarithms and chances are added in whole parts of 2^-80, so that no
-- order matters.
CREATE OR REPLACE VIEW household_risks AS
SELECT
    household,
    count(*) AS people,
    max(chance) = 1 AS certain,
    CASE
        WHEN max(chance) = 1 THEN 1.0::DOUBLE
        ELSE greatest(
            max(chance),
            1 - exp(
                sum((CASE WHEN chance < 1 THEN ln(1 - chance) ELSE 0 END * pow(2, 80))::HUGEINT)
                / pow(2, 80)
            )
        )
    END AS risk,
    max(chance) AS risk_low,
    least(1.0::DOUBLE, sum((chance * pow(2, 80))::HUGEINT) / pow(2, 80)) AS risk_high
FROM housed
WHERE household IS NOT NULL
GROUP BY household;

-- One row: how many households and people in them there are, how many households have a member
-- about whom the guess is certain, and the sums of their risks in parts of 2^-80, the last one over
-- people, each with the risk of the household.
CREATE OR REPLACE VIEW households AS
SELECT
    count(*) AS households,
    coalesce(sum(people), 0)::BIGINT AS people,
    count(*) FILTER (WHERE certain) AS singled_out,
    coalesce(sum((risk * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk,
    coalesce(sum((risk_low * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk_low,
    coalesce(sum((risk_high * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk_high,
    coalesce(sum(people * (risk * pow(2, 80))::HUGEINT), 0)::VARCHAR AS people_risk,
    coalesce(max(risk), 0) AS worst_risk
FROM household_risks;

-- One row about the people without a household, each of whom counts as one: the same numbers.
CREATE OR REPLACE VIEW unhoused AS
SELECT
    count(*) AS households,
    count(*) AS people,
    count(*) FILTER (WHERE chance = 1) AS singled_out,
    coalesce(sum((chance * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk,
    coalesce(sum((chance * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk_low,
    coalesce(sum((chance * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk_high,
    coalesce(sum((chance * pow(2, 80))::HUGEINT), 0)::VARCHAR AS people_risk,
    coalesce(max(chance), 0) AS worst_risk
FROM housed
WHERE household IS NULL;

-- One row per block of equal records and secret: how many people have such a record and that
-- secret, how many of them are `lone`, in no other block, and how many records of theirs are in the block.
CREATE OR REPLACE VIEW known_cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    count(*) FILTER (WHERE lone) AS lone_people,
    sum(alike)::BIGINT AS records
FROM microdata
GROUP BY qid, secret;

-- One row per block of equal records: how many people have one in it, how many of these have the
-- most frequent secret, how many secrets they have, how many people are `lone`, and how many
-- records the block holds.
CREATE OR REPLACE VIEW known_blocks AS
SELECT
    qid,
    sum(people)::BIGINT AS size,
    sum(lone_people)::BIGINT AS lone_people,
    max(people) AS mode,
    count(*) AS "values",
    sum(records)::BIGINT AS records
FROM known_cells
GROUP BY qid;

-- One row per block of equal records when the secret is whose record it is.
CREATE OR REPLACE VIEW known_owners AS
SELECT
    qid,
    count(*) AS size,
    count(*) FILTER (WHERE lone) AS lone_people,
    1::BIGINT AS mode,
    count(*) AS "values",
    sum(alike)::BIGINT AS records
FROM microdata
GROUP BY qid;

-- One row per kind of block of equal records: how many blocks there are, and their records.
CREATE OR REPLACE VIEW known_profile AS
SELECT
    size,
    mode,
    "values",
    count(*) AS blocks,
    sum(records)::BIGINT AS records
FROM known_blocks
GROUP BY size, mode, "values";

-- One row: how many people have a record that singles them out, and how many have one in a block
-- with one secret, as the block of one person is.
CREATE OR REPLACE VIEW known_certain AS
SELECT
    coalesce(sum(people) FILTER (WHERE alone_there), 0)::BIGINT AS singled_out,
    coalesce(sum(people), 0)::BIGINT AS certain
FROM (
    SELECT
        bool_or(known_blocks.size = 1) AS alone_there,
        1 AS people
    FROM microdata
    JOIN known_blocks
        ON known_blocks.qid IS NOT DISTINCT FROM microdata.qid AND known_blocks."values" = 1
    WHERE NOT microdata.lone
    GROUP BY microdata.person, microdata.alone
    UNION ALL
    SELECT
        size = 1 AS alone_there,
        lone_people AS people
    FROM known_blocks
    WHERE "values" = 1
) AS everybody;

-- One row: the people in blocks in which nobody reports the secret in any record: every member of
-- their sets of secrets is the number of the missing one.
CREATE OR REPLACE VIEW people_unreported AS
SELECT coalesce(sum(size), 0)::BIGINT AS people
FROM (
    SELECT
        microdata.qid,
        count(*) AS size
    FROM microdata
    JOIN secret_sets ON secret_sets.number = microdata.secret
    CROSS JOIN (SELECT number AS missing FROM secret_numbers WHERE value IS NULL) AS numbered
    GROUP BY microdata.qid
    HAVING
        bool_and(
            list_min(secret_sets.members) = numbered.missing
            AND list_max(secret_sets.members) = numbered.missing
        )
) AS blocks;

-- One row: the same people, if the secret of a person is the list of its values.
CREATE OR REPLACE VIEW people_unreported_in_values AS
SELECT coalesce(sum(size), 0)::BIGINT AS people
FROM (
    SELECT
        qid,
        count(*) AS size
    FROM microdata
    GROUP BY qid
    HAVING bool_and(list_aggregate(secret, 'count') = 0)
) AS blocks;
