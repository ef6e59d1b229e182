-- Households: the chance that the best guess is right about some member.

-- One row per person: her household, and the chance that the best guess about her is right.
CREATE OR REPLACE VIEW housed AS
SELECT
    microdata.household,
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
-- about whom the guess is certain, and the sums of their risks in parts of 2^-80.
CREATE OR REPLACE VIEW households AS
SELECT
    count(*) AS households,
    coalesce(sum(people), 0)::BIGINT AS people,
    count(*) FILTER (WHERE certain) AS singled_out,
    coalesce(sum((risk * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk,
    coalesce(sum((risk_low * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk_low,
    coalesce(sum((risk_high * pow(2, 80))::HUGEINT), 0)::VARCHAR AS risk_high,
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
    coalesce(max(chance), 0) AS worst_risk
FROM housed
WHERE household IS NULL;
