-- A column: how often its values occur.

-- One row per number of records that share a value of a column: how many values have that many,
-- the missing value apart.
CREATE OR REPLACE VIEW frequencies AS
SELECT
    weight AS records,
    secret IS NULL AS missing,
    count(*) AS "values"
FROM (SELECT secret, count(*) AS weight FROM microdata GROUP BY secret) AS counted
GROUP BY ALL;

-- The same of a column of texts, apart for words that often stand for a missing value (`word`) and
-- for numbers with a decimal comma or with points between thousands (`comma`).
CREATE OR REPLACE VIEW text_frequencies AS
SELECT
    weight AS records,
    secret IS NULL AS missing,
    count(*) AS "values",
    coalesce(
        regexp_full_match(lower(trim(secret::VARCHAR)), '|#?n/?a|null|none|nan|-+|[.?]'), FALSE
    ) AS word,
    coalesce(
        regexp_full_match(
            trim(secret::VARCHAR), '[+-]?([0-9]+,[0-9]+|[0-9]{1,3}([.][0-9]{3})+(,[0-9]+)?)'
        ),
        FALSE
    ) AS comma
FROM (SELECT secret, count(*) AS weight FROM microdata GROUP BY secret) AS counted
GROUP BY ALL;
