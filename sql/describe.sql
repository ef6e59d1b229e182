-- Columns: how often their values occur.

-- One row per record and column, of columns of one type: the number of the column, and the value.
{# values_of_columns(secrets=[1]), values_of_columns(secrets=[1, 2]) #}
CREATE OR REPLACE VIEW values_of_columns AS
{% if secrets | length == 1 %}
SELECT
    1 AS number,
    secret_1 AS secret
FROM microdata;
{% else %}
SELECT
    cell.number,
    cell.secret
FROM (
    SELECT
        unnest([{{ secrets | each("{'number': #, 'secret': secret_#}", ", ") }}]) AS cell
    FROM microdata
) AS unfolded;
{% endif %}

-- One row per column and number of records that share a value of it: how many values have that
-- many, the missing value apart.
CREATE OR REPLACE VIEW frequencies AS
SELECT
    number,
    weight AS records,
    secret IS NULL AS missing,
    count(*) AS "values"
FROM (
    SELECT
        number,
        secret,
        count(*) AS weight
    FROM values_of_columns
    GROUP BY number, secret
) AS counted
GROUP BY ALL;

-- The same of a column of texts, apart for words that often stand for a missing value (`word`) and
-- for numbers with a decimal comma or with points between thousands (`comma`).
CREATE OR REPLACE VIEW text_frequencies AS
SELECT
    number,
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
FROM (
    SELECT
        number,
        secret,
        count(*) AS weight
    FROM values_of_columns
    GROUP BY number, secret
) AS counted
GROUP BY ALL;

-- One row per value of a column that at least so many records have, the most frequent first. The
-- command line limits it.
CREATE OR REPLACE VIEW frequent AS
SELECT
    secret::VARCHAR AS "value",
    weight AS records
FROM cells
WHERE weight >= least
ORDER BY weight DESC, secret ASC NULLS LAST
LIMIT 20;
