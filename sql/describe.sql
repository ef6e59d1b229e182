-- A column: how often its values occur.

-- One row per number of records that share a value of a column: how many values have that many,
-- the missing value apart.
CREATE OR REPLACE VIEW frequencies AS
SELECT
    weight AS records,
    secret IS NULL AS missing,
    count(*) AS "values"
FROM cells
GROUP BY ALL;

-- One row about the texts of a column: how many records have a word that often stands for a missing
-- value, a number with a decimal comma, and any text.
CREATE OR REPLACE VIEW spellings AS
SELECT
    coalesce(sum(weight) FILTER (
        WHERE regexp_full_match(lower(trim(secret::VARCHAR)), '|#?n/?a|null|none|nan|-+|[.?]')
    ), 0)::BIGINT AS missing,
    coalesce(sum(weight) FILTER (
        WHERE regexp_full_match(trim(secret::VARCHAR), '[+-]?[0-9][0-9.]*,[0-9]+')
    ), 0)::BIGINT AS commas,
    sum(weight)::BIGINT AS records
FROM cells
WHERE secret IS NOT NULL;
