-- microdata: One row per individual.
-- blocks_0: One row per block when the secret is whose record it is (re-identification): every person of the block is a value of its own, so the best guess is right for one.
-- profile_0: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- prior_blocks_0: One row per block when the secret is whose record it is (re-identification): every person of the block is a value of its own, so the best guess is right for one.
-- prior_profile_0: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- asked_0: One row: what was asked for.
-- answer_0: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person.
WITH microdata AS NOT MATERIALIZED (
  SELECT
    source."age" AS qid_1
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
), blocks_0 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    COUNT(*) AS size,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS mode,
    CAST(1 AS BIGINT) AS heaviest,
    COUNT(*) AS "values"
  FROM microdata
  GROUP BY
    qid_1
), profile_0 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM blocks_0 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), prior_blocks_0 AS NOT MATERIALIZED (
  SELECT
    COUNT(*) AS size,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS mode,
    CAST(1 AS BIGINT) AS heaviest,
    COUNT(*) AS "values"
  FROM microdata
), prior_profile_0 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM prior_blocks_0 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), asked_0 AS NOT MATERIALIZED (
  SELECT
    1 AS scale,
    1 AS tries,
    0 AS penalty,
    CAST(0.000000000 AS DECIMAL(20, 9)) AS tolerance,
    [] AS thresholds,
    [] AS quantiles
), answer_0 AS NOT MATERIALIZED (
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
        FROM asked_0 AS asked
      ) AS probabilistic
    FROM profile_0 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(size * blocks) FILTER(WHERE
        "values" = 1), 0) / SUM(size * blocks) AS deterministic,
      SUM(mode * blocks) / SUM(size * blocks) / (
        SELECT
          scale
        FROM asked_0 AS asked
      ) AS probabilistic
    FROM prior_profile_0 AS prior
  ) AS before
)
SELECT
  'CRS' AS model,
  NULL AS secret,
  *
FROM answer_0;
