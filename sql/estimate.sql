-- A sample of a population: blocks, weights, chances of a right link.

-- One row per block of a sample: its people, and the share of the block's people in the population
-- that they are expected to be.
CREATE OR REPLACE VIEW crowds AS
SELECT
    qid,
    count(*) AS size,
    (SELECT fraction FROM asked) AS share
FROM microdata
GROUP BY qid;

-- One row per kind of block: how many blocks have so many people and are such a share of the
-- population's block.
CREATE OR REPLACE VIEW kinds AS
SELECT
    size,
    share,
    count(*) AS blocks
FROM crowds
GROUP BY size, share;

-- One row per kind of block: the chance that a link of one of its records with the right block of
-- the population hits the right person. With f people in the sample, a share p of those in the
-- population, who are F, this is E(1/F | f), F negative binomial: the integral of
-- x^(f-1) / (1 + (1/p - 1) x) for x from 0 to 1. Summed as a series where f or p is large, else from
-- f - 1 to f, beginning with -ln(p) p / (1 - p).
CREATE OR REPLACE VIEW chances AS
SELECT
    *,
    CASE
        WHEN share >= 1 THEN 1 / size
        WHEN share > 0.5 OR size >= 20
            THEN list_reduce(
                range(50, 0, -1),
                lambda total, i: 1 + total * i * (1 - share) / (size + i),
                1::DOUBLE
            ) * share / size
        ELSE list_reduce(
            range(1, size),
            lambda risk, i: (1 / i - risk) * share / (1 - share),
            -ln(share) * share / (1 - share)
        )
    END AS risk
FROM kinds;

-- One row per size of a block and risk of its people in percent, halves rounded to even: how many
-- such blocks there are, how many of them are all of the population's block, and, in 2^60 parts of
-- one, their risks and their shares of the population's blocks, together. Whole numbers add up to
-- the same whatever their order.
CREATE OR REPLACE VIEW spread AS
SELECT
    size,
    round_even(100 * risk, 0)::INTEGER AS bin,
    sum(blocks)::BIGINT AS blocks,
    coalesce(sum(blocks) FILTER (WHERE share >= 1), 0)::BIGINT AS complete,
    sum(blocks * round(risk * 1152921504606846976)::HUGEINT) AS risks,
    sum(blocks * round(share * 1152921504606846976)::HUGEINT) AS shares,
    max(risk) AS highest
FROM chances
GROUP BY ALL;

-- One row: the records of a sample with weights, and all, the least and the largest of the weights,
-- which were made whole numbers by a unit.
CREATE OR REPLACE VIEW totals AS
SELECT
    count(*) AS records,
    sum(weight) AS weight,
    min(weight) AS least,
    max(weight) AS most,
    (SELECT unit FROM asked) AS unit
FROM microdata;

-- One row per block of a sample with weights, each of which is how many people of the population a
-- record stands for: its people, and the share of the block's people in the population that they
-- are expected to be.
CREATE OR REPLACE VIEW weighted_crowds AS
SELECT
    qid,
    count(*) AS size,
    least(count(*) * (SELECT unit FROM asked) / sum(weight)::DOUBLE, 1.0) AS share
FROM microdata
GROUP BY qid;

-- One row per person of a sample: her household, and the chance that a link of her record with the
-- right block of the population hits her.
CREATE OR REPLACE VIEW housed AS
SELECT
    microdata.household,
    chances.risk AS chance
FROM microdata
JOIN crowds ON crowds.qid IS NOT DISTINCT FROM microdata.qid
JOIN chances ON chances.size = crowds.size AND chances.share = crowds.share;

-- One row: the risks of all households through their members, and those of the people without a
-- household, each as a structure.
CREATE OR REPLACE VIEW homes AS
SELECT
    homes_of_people,
    people_alone
FROM households AS homes_of_people
CROSS JOIN unhoused AS people_alone;

-- One row per record, in the order of the input: its position, its key, the people of its block in the
-- sample and, as expected, in the population, its risk, and that of its household.
{# record_risks(key=0, as_text=0, household=0), record_risks(key=1, as_text=1, household=1) #}
CREATE OR REPLACE VIEW record_risks AS
SELECT
    everybody.record,
    {% if key %}
    everybody.key{{ "::VARCHAR" if as_text }} AS key,
    {% endif %}
    risky.size AS block_size,
    risky.size / risky.share AS population_block,
    risky.risk
    {{ ", coalesce(household_risks.risk, risky.risk) AS household_risk" if household }}
FROM everybody
JOIN risky ON risky.qid IS NOT DISTINCT FROM everybody.qid
{{ "LEFT JOIN household_risks ON household_risks.household = everybody.household" if household }}
ORDER BY everybody.record;
