-- Noisy knowledge: what may be known of a person, by the person's true value.

-- One row about the values of a quasi-identifier: the least, the greatest, and how many are not
-- whole numbers.
CREATE OR REPLACE VIEW whole AS
SELECT
    min(value) AS smallest,
    max(value) AS largest,
    count(*) FILTER (WHERE value <> trunc(value)) AS broken
FROM dictionary;

-- One row per value and number that may be known instead, with its weight: the value and a shift.
-- A missing value is known to be missing (number 0).
CREATE OR REPLACE VIEW shifted AS
SELECT
    code,
    known,
    weight
FROM (
    SELECT
        code,
        (value::HUGEINT - least_value + shift + widest + 1)::BIGINT AS known,
        shifts.weight
    FROM dictionary
    CROSS JOIN shifts
    WHERE value IS NOT NULL
    UNION ALL
    SELECT
        code,
        0::BIGINT AS known,
        whole_weight AS weight
    FROM dictionary
    WHERE value IS NULL
) AS every;

-- One row per value and what may be known of it: the value itself, or nothing (number 0).
CREATE OR REPLACE VIEW forgotten AS
SELECT
    code,
    known,
    weight
FROM (
    SELECT
        code,
        code AS known,
        known_weight AS weight
    FROM dictionary
    WHERE known_weight > 0
    UNION ALL
    SELECT
        code,
        0::BIGINT AS known,
        unknown_weight AS weight
    FROM dictionary
) AS every;

-- One row about a table of what is known as what: its lines, those whose value does not fit the
-- column, those without a probability, those that repeat a pair, and the values whose probabilities
-- do not add up to 1.
CREATE OR REPLACE VIEW lawless AS
SELECT
    (SELECT count(*) FROM listed) AS lines,
    (SELECT count(*) FROM listed WHERE unfit) AS unfit,
    (
        SELECT count(*)
        FROM listed
        WHERE coalesce(NOT (probability >= 0 AND probability <= 1), true)
    ) AS wrong,
    (
        SELECT coalesce(sum(lines - 1), 0)::BIGINT
        FROM (SELECT count(*) AS lines FROM listed GROUP BY value, label) AS pairs
    ) AS twice,
    count(*) AS listed_values,
    count(*) FILTER (WHERE abs(probabilities - 1) > 1e-9) AS unsound
FROM (
    SELECT
        value,
        sum(probability ORDER BY probability ASC) AS probabilities
    FROM listed
    GROUP BY value
) AS sums;

-- One row per value and label by which it may be known, with a weight: at least 1, all together
-- `whole_weight`, for the likeliest label has what the others leave. A value that the table does not
-- list is known as itself.
CREATE OR REPLACE VIEW labelled AS
SELECT
    code,
    label,
    weight
FROM (
    SELECT
        code,
        label,
        CASE
            WHEN likeliest = 1
                THEN whole_weight - sum(part) OVER (PARTITION BY code) + part
            ELSE part
        END AS weight
    FROM (
        SELECT
            dictionary.code,
            listed.label,
            greatest(1::HUGEINT, round(listed.probability * whole_weight::DOUBLE)::HUGEINT) AS part,
            row_number() OVER (
                PARTITION BY dictionary.code
                ORDER BY listed.probability DESC, listed.label ASC NULLS LAST
            ) AS likeliest
        FROM dictionary
        JOIN listed ON listed.value IS NOT DISTINCT FROM dictionary.value
        WHERE listed.probability > 0
    ) AS parts
    UNION ALL
    SELECT
        code,
        value::VARCHAR AS label,
        whole_weight AS weight
    FROM dictionary
    ANTI JOIN listed ON listed.value IS NOT DISTINCT FROM dictionary.value
) AS every;

-- One row per value and number of what may be known of it, with its weight.
CREATE OR REPLACE VIEW numbered AS
SELECT
    code,
    dense_rank() OVER (ORDER BY label ASC NULLS LAST) AS known,
    weight
FROM labelled;

-- One row per value: the weight that it is known, and the weight of another value for each record
-- that has the other.
CREATE OR REPLACE VIEW confusions AS
SELECT
    code,
    whole_weight - (everybody - frequency) * other AS same,
    other,
    frequency
FROM (
    SELECT
        code,
        frequency,
        CASE
            WHEN frequency = everybody THEN 0::HUGEINT
            ELSE greatest(
                1::HUGEINT,
                round(
                    wrong_share * whole_weight::DOUBLE / (everybody - frequency)::DOUBLE
                )::HUGEINT
            )
        END AS other
    FROM dictionary
) AS rounded;

-- One row per value: the same weights, where they are whole numbers.
CREATE OR REPLACE VIEW exact_confusions AS
SELECT
    code,
    whole_weight - (everybody - frequency) * other AS same,
    other,
    frequency
FROM (
    SELECT
        code,
        frequency,
        CASE
            WHEN frequency = everybody THEN 0::HUGEINT
            ELSE wrong_weight // (everybody - frequency)
        END AS other
    FROM dictionary
) AS whole_numbers;

-- One row per group of people about whom the same is known exactly and value that may be known
-- instead: one of those that occur in the group, or all others together (number 0). How frequent it
-- is, and how many values it stands for.
CREATE OR REPLACE VIEW choices AS
SELECT
    exact,
    known,
    frequency,
    kinds
FROM (
    SELECT
        here.exact,
        here.own AS known,
        law.frequency,
        1::HUGEINT AS kinds
    FROM (SELECT DISTINCT exact, own FROM coded) AS here
    JOIN law ON law.code = here.own
    UNION ALL
    SELECT
        here.exact,
        0::BIGINT AS known,
        everybody - sum(law.frequency) AS frequency,
        (number_of_values - count(*))::HUGEINT AS kinds
    FROM (SELECT DISTINCT exact, own FROM coded) AS here
    JOIN law ON law.code = here.own
    GROUP BY here.exact
    HAVING sum(law.frequency) < everybody
) AS every;
