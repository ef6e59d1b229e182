-- microdata: One row per individual.
-- cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- profile_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- prior_cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- prior_blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- prior_profile_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- asked_1: One row: what was asked for.
-- answer_1: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person.
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
), prior_cells_1 AS NOT MATERIALIZED (
  SELECT
    secret_1,
    COUNT(*) AS people,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS heaviest
  FROM microdata
  GROUP BY
    secret_1
), prior_blocks_1 AS NOT MATERIALIZED (
  SELECT
    CAST(SUM(weight) AS BIGINT) AS size,
    CAST(SUM(weight) AS BIGINT) AS weight,
    MAX(weight) AS mode,
    CAST(1 AS BIGINT) AS heaviest,
    COUNT(*) AS "values"
  FROM prior_cells_1 AS cells
), prior_profile_1 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM prior_blocks_1 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), asked_1 AS NOT MATERIALIZED (
  SELECT
    1 AS scale,
    1 AS tries,
    0 AS penalty,
    CAST(0.000000000 AS DECIMAL(20, 9)) AS tolerance,
    [] AS thresholds,
    [] AS quantiles
), answer_1 AS NOT MATERIALIZED (
  SELECT
    before.people AS records,
    after.people AS matches,
    after.blocks,
    after.singled_out,
    before.deterministic AS prior_deterministic,
    after.deterministic AS posterior_deterministic,
    before.probabilistic AS prior_probabilistic,
    after.probabilistic AS posterior_probabilistic
  FROM (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      CAST(SUM(blocks) AS BIGINT) AS blocks,
      CAST(COALESCE(SUM(blocks) FILTER(WHERE
        size = 1), 0) AS BIGINT) AS singled_out,
      COALESCE(SUM(size * blocks) FILTER(WHERE
        "values" = 1), 0) / SUM(size * blocks) AS deterministic,
      SUM(mode * blocks) / SUM(size * blocks) / (
        SELECT
          scale
        FROM asked_1 AS asked
      ) AS probabilistic
    FROM profile_1 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(size * blocks) FILTER(WHERE
        "values" = 1), 0) / SUM(size * blocks) AS deterministic,
      SUM(mode * blocks) / SUM(size * blocks) / (
        SELECT
          scale
        FROM asked_1 AS asked
      ) AS probabilistic
    FROM prior_profile_1 AS prior
  ) AS before
)
SELECT
  'CAS' AS model,
  'illness' AS secret,
  *
FROM answer_1;
