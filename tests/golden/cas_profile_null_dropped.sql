-- microdata: One row per individual.
-- cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- profile_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
WITH microdata AS NOT MATERIALIZED (
  SELECT
    source."age" AS qid_1,
    source."illness" AS secret_1
  FROM READ_CSV(
    ['data-samples/thesis_table_3_2.csv'],
    delim = ',',
    quote = '"',
    escape = '"',
    header = TRUE,
    sample_size = -1,
    comment = '',
    skip = 0,
    strict_mode = TRUE,
    auto_type_candidates = ['BIGINT', 'HUGEINT', 'DOUBLE', 'TIME', 'DATE', 'TIMESTAMP', 'VARCHAR'],
    allow_quoted_nulls = FALSE
  ) AS source
  WHERE
    NOT (
      source."age"
    ) IS NULL AND NOT (
      source."illness"
    ) IS NULL
), cells_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    secret_1,
    COUNT(*) AS people,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS heaviest
  FROM microdata
  GROUP BY
    qid_1,
    secret_1
), blocks_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    CAST(SUM(weight) AS BIGINT) AS size,
    CAST(SUM(weight) AS BIGINT) AS weight,
    MAX(weight) AS mode,
    CAST(1 AS BIGINT) AS heaviest,
    COUNT(*) AS "values"
  FROM cells_1 AS cells
  GROUP BY
    qid_1
), profile_1 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM blocks_1 AS blocks
  GROUP BY
    size,
    mode,
    "values"
)
SELECT
  1 AS secret,
  0 AS gain,
  1 AS scale,
  profile_1.*
FROM profile_1;
