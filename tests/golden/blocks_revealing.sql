-- microdata: One row per individual.
-- cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- guesses_1: One row per block: the adversary's best guess, the most frequent value of the secret; of equally frequent ones the smallest, a missing value last.
-- revealed_1: One row per block: what it reveals about each of its people. `success` is the chance that the best guess of the secret is right, `owner_success` that the guess whose record it is, is right.
-- chosen: One row per block to be shown: the smallest ones. The command line orders and limits it.
-- counts_1: One row per block to be shown: how many of its people have each value of the secret, the most frequent first.
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
), guesses_1 AS NOT MATERIALIZED (
  SELECT
    blocks.qid_1,
    MIN(cells.secret_1) AS best_guess
  FROM blocks_1 AS blocks
  JOIN cells_1 AS cells
    ON cells.qid_1 IS NOT DISTINCT FROM blocks.qid_1 AND cells.weight = blocks.mode
  GROUP BY
    blocks.qid_1
), revealed_1 AS NOT MATERIALIZED (
  SELECT
    blocks.qid_1,
    blocks.size,
    blocks."values",
    blocks.mode / blocks.weight AS success,
    blocks.heaviest / blocks.weight AS owner_success,
    guesses.best_guess
  FROM blocks_1 AS blocks
  JOIN guesses_1 AS guesses
    ON guesses.qid_1 IS NOT DISTINCT FROM blocks.qid_1
), chosen AS MATERIALIZED (
  SELECT
    *
  FROM revealed_1
  ORDER BY
    success DESC,
    size DESC,
    qid_1
  LIMIT 2
), counts_1 AS NOT MATERIALIZED (
  SELECT
    chosen.qid_1,
    ARRAY_AGG(
      {'value': cells.secret_1, 'records': cells.weight} ORDER BY cells.weight DESC, cells.secret_1 ASC
    ) AS counts
  FROM chosen
  JOIN cells_1 AS cells
    ON cells.qid_1 IS NOT DISTINCT FROM chosen.qid_1
  GROUP BY
    chosen.qid_1
)
SELECT
  chosen.qid_1 AS "age",
  chosen.size AS "size",
  chosen.owner_success AS "success",
  "chosen"."values" AS "values_illness",
  chosen.best_guess AS "best_guess_illness",
  chosen.success AS "success_illness",
  counts_1.counts AS "counts_illness"
FROM chosen
JOIN counts_1
  ON chosen.qid_1 IS NOT DISTINCT FROM counts_1.qid_1
ORDER BY
  chosen.success DESC,
  chosen.size DESC,
  chosen.qid_1;
