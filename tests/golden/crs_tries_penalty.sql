-- microdata: One row per individual.
-- blocks_0: One row per block when the secret is whose record it is (re-identification): every person of the block is a value of its own, so the best guess is right for one.
-- asked_0_1: One row: what was asked for.
-- gained_0_1: One row per block for an adversary who may guess several times whose record it is.
-- profile_0_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- prior_blocks_0: One row per block when the secret is whose record it is (re-identification): every person of the block is a value of its own, so the best guess is right for one.
-- prior_gained_0_1: One row per block for an adversary who may guess several times whose record it is.
-- prior_profile_0_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- answer_0_1: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person.
-- asked_0_2: One row: what was asked for.
-- gained_0_2: One row per block for an adversary who pays for a wrong guess and may abstain: `mode` is what her best guess gains, times `scale`; nothing where it would lose.
-- profile_0_2: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- prior_gained_0_2: One row per block for an adversary who pays for a wrong guess and may abstain: `mode` is what her best guess gains, times `scale`; nothing where it would lose.
-- prior_profile_0_2: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- answer_0_2: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person.
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
), asked_0_1 AS NOT MATERIALIZED (
  SELECT
    1 AS scale,
    2 AS tries,
    0 AS penalty,
    CAST(0.000000000 AS DECIMAL(20, 9)) AS tolerance,
    [] AS thresholds,
    [] AS quantiles
), gained_0_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    size,
    weight,
    LEAST(size, (
      SELECT
        tries
      FROM asked_0_1 AS asked
    )) AS mode,
    heaviest,
    "values"
  FROM blocks_0 AS blocks
), profile_0_1 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM gained_0_1 AS blocks
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
), prior_gained_0_1 AS NOT MATERIALIZED (
  SELECT
    size,
    weight,
    LEAST(size, (
      SELECT
        tries
      FROM asked_0_1 AS asked
    )) AS mode,
    heaviest,
    "values"
  FROM prior_blocks_0 AS blocks
), prior_profile_0_1 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM prior_gained_0_1 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), answer_0_1 AS NOT MATERIALIZED (
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
        FROM asked_0_1 AS asked
      ) AS probabilistic
    FROM profile_0_1 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(size * blocks) FILTER(WHERE
        "values" = 1), 0) / SUM(size * blocks) AS deterministic,
      SUM(mode * blocks) / SUM(size * blocks) / (
        SELECT
          scale
        FROM asked_0_1 AS asked
      ) AS probabilistic
    FROM prior_profile_0_1 AS prior
  ) AS before
), asked_0_2 AS NOT MATERIALIZED (
  SELECT
    2 AS scale,
    1 AS tries,
    1 AS penalty,
    CAST(0.000000000 AS DECIMAL(20, 9)) AS tolerance,
    [] AS thresholds,
    [] AS quantiles
), gained_0_2 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    size,
    weight,
    GREATEST(
      0,
      mode * (
        SELECT
          scale + penalty
        FROM asked_0_2 AS asked
      ) - weight * (
        SELECT
          penalty
        FROM asked_0_2 AS asked
      )
    ) AS mode,
    heaviest,
    "values"
  FROM blocks_0 AS blocks
), profile_0_2 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM gained_0_2 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), prior_gained_0_2 AS NOT MATERIALIZED (
  SELECT
    size,
    weight,
    GREATEST(
      0,
      mode * (
        SELECT
          scale + penalty
        FROM asked_0_2 AS asked
      ) - weight * (
        SELECT
          penalty
        FROM asked_0_2 AS asked
      )
    ) AS mode,
    heaviest,
    "values"
  FROM prior_blocks_0 AS blocks
), prior_profile_0_2 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM prior_gained_0_2 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), answer_0_2 AS NOT MATERIALIZED (
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
        FROM asked_0_2 AS asked
      ) AS probabilistic
    FROM profile_0_2 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(size * blocks) FILTER(WHERE
        "values" = 1), 0) / SUM(size * blocks) AS deterministic,
      SUM(mode * blocks) / SUM(size * blocks) / (
        SELECT
          scale
        FROM asked_0_2 AS asked
      ) AS probabilistic
    FROM prior_profile_0_2 AS prior
  ) AS before
)
SELECT
  'CRS' AS model,
  NULL AS secret,
  'tries:2' AS gain,
  *
FROM answer_0_1
UNION ALL
SELECT
  'CRS' AS model,
  NULL AS secret,
  'penalty:0.5' AS gain,
  *
FROM answer_0_2;
