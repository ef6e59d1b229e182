-- Values of a quasi-identifier as places, those of a secret as numbers.

-- One row per value of a quasi-identifier: its place on a scale of whole numbers from 0 to 2^30, in
-- the order of the values, missing last, one average step behind the greatest. Where values cannot
-- be measured, or lie too far apart, their numbers are. No two values share a place.
CREATE OR REPLACE VIEW scale AS
SELECT
    value,
    code,
    people,
    (code + max(share - code) OVER (ORDER BY code))::INTEGER AS place
FROM (
    SELECT
        value,
        code,
        people,
        CASE
            WHEN "values" = 1 THEN 0
            WHEN NOT measurable THEN floor(code / ("values" - 1) * 1073741824)
            WHEN value IS NULL THEN 1073741824
            ELSE floor((position - least) / span * 1073741824)
        END::BIGINT AS share
    FROM measured
    CROSS JOIN (
        SELECT
            *,
            coalesce(numbers > 1 AND known > 0 AND isfinite(span) AND positions = numbers, FALSE)
                AS measurable
        FROM (
            SELECT
                *,
                known + CASE WHEN numbers < "values" THEN known / (numbers - 1) ELSE 0 END AS span
            FROM (
                SELECT
                    count(*) AS "values",
                    count(value) AS numbers,
                    count(position) AS positions,
                    min(position) AS least,
                    max(position) - min(position) AS known
                FROM measured
            ) AS counted
        ) AS spanned
    ) AS limits
) AS shared;

-- One row: the least and the greatest of the values of a quasi-identifier, whole numbers.
CREATE OR REPLACE VIEW ends_of_values AS
SELECT
    coalesce(min(value), 0)::HUGEINT AS least,
    coalesce(max(value), 0)::HUGEINT AS greatest
FROM scale;

-- One row: whether some value is longer than so many characters, and whether some has a star in them.
CREATE OR REPLACE VIEW prefix_flags AS
SELECT
    coalesce(bool_or(length(value::VARCHAR) > kept_characters), FALSE) AS longer,
    coalesce(bool_or(contains(left(value::VARCHAR, kept_characters), '*')), FALSE) AS starred
FROM scale;

-- One row: how many values a scale has, the place of the missing value, and its ends.
CREATE OR REPLACE VIEW ends AS
SELECT
    count(*) AS "values",
    any_value(place) FILTER (WHERE value IS NULL) AS missing,
    min(place) AS least,
    max(place) AS greatest
FROM scale;

-- One row per value of a secret: how many people have it, how many have it or a smaller one, and
-- the sum of the latter over all smaller values.
CREATE OR REPLACE VIEW whole AS
SELECT
    code,
    people,
    upto,
    sum(upto) OVER (ORDER BY code) - upto AS before
FROM (
    SELECT
        code,
        people,
        sum(people) OVER (ORDER BY code) AS upto
    FROM dictionary
) AS added;
