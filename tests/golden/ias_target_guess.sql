-- microdata: One row per individual.
-- candidates: One row per individual whom the adversary cannot tell from the target.
-- cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- guesses_1: One row per block: the adversary's best guess, the most frequent value of the secret; of equally frequent ones the smallest, a missing value last.
-- guesses_0: One row per block: the key of the record that the adversary guesses to be the target's, the smallest of those that are equally likely.
WITH microdata AS NOT MATERIALIZED (
  SELECT
    source."gender" AS qid_1,
    source."occupation" AS qid_2,
    source."illness" AS secret_1,
    source."id" AS key
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
), candidates AS NOT MATERIALIZED (
  SELECT
    *
  FROM microdata
  WHERE
    qid_1 IS NOT DISTINCT FROM CAST('M' AS TEXT)
    AND qid_2 IS NOT DISTINCT FROM CAST('4' AS BIGINT)
), cells_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    qid_2,
    secret_1,
    COUNT(*) AS people,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS heaviest
  FROM candidates AS microdata
  GROUP BY
    qid_1,
    qid_2,
    secret_1
), blocks_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    qid_2,
    CAST(SUM(weight) AS BIGINT) AS size,
    CAST(SUM(weight) AS BIGINT) AS weight,
    MAX(weight) AS mode,
    CAST(1 AS BIGINT) AS heaviest,
    COUNT(*) AS "values"
  FROM cells_1 AS cells
  GROUP BY
    qid_1,
    qid_2
), guesses_1 AS NOT MATERIALIZED (
  SELECT
    blocks.qid_1,
    blocks.qid_2,
    MIN(cells.secret_1) AS best_guess
  FROM blocks_1 AS blocks
  JOIN cells_1 AS cells
    ON cells.qid_1 IS NOT DISTINCT FROM blocks.qid_1
    AND cells.qid_2 IS NOT DISTINCT FROM blocks.qid_2
    AND cells.weight = blocks.mode
  GROUP BY
    blocks.qid_1,
    blocks.qid_2
), guesses_0 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    qid_2,
    MIN(key) AS best_guess
  FROM candidates AS microdata
  GROUP BY
    qid_1,
    qid_2
)
SELECT
  1 AS secret,
  0 AS gain,
  CAST(best_guess AS TEXT) AS best_guess
FROM guesses_1
UNION ALL
SELECT
  0 AS secret,
  0 AS gain,
  CAST(best_guess AS TEXT) AS best_guess
FROM guesses_0;
