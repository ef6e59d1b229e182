-- microdata: One row per individual.
-- cells_0: One row per person when the secret is whose record it is (re-identification): every person is a value of its own.
-- blocks_0: One row per block, the people whom the adversary cannot tell apart: how many they are, their weight, the weight of the most likely value of the secret, the weight of the most likely person, and how many values occur.
-- profile_0: One row per size and number of values of a block, with totals over such blocks: weights differ from person to person, so there may be as many modes as blocks.
-- prior_cells_0: One row per person when the secret is whose record it is (re-identification): every person is a value of its own.
-- prior_blocks_0: One row per block, the people whom the adversary cannot tell apart: how many they are, their weight, the weight of the most likely value of the secret, the weight of the most likely person, and how many values occur.
-- prior_profile_0: One row per size and number of values of a block, with totals over such blocks: weights differ from person to person, so there may be as many modes as blocks.
-- asked_0: One row: what was asked for.
-- answer_0: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person. Only people of positive weight count.
-- cells_1: One row per block and value of the secret that occurs in it: how many people have it, their weight together, and the heaviest of them.
-- blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, their weight, the weight of the most likely value of the secret, the weight of the most likely person, and how many values occur.
-- profile_1: One row per size and number of values of a block, with totals over such blocks: weights differ from person to person, so there may be as many modes as blocks.
-- prior_cells_1: One row per block and value of the secret that occurs in it: how many people have it, their weight together, and the heaviest of them.
-- prior_blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, their weight, the weight of the most likely value of the secret, the weight of the most likely person, and how many values occur.
-- prior_profile_1: One row per size and number of values of a block, with totals over such blocks: weights differ from person to person, so there may be as many modes as blocks.
-- asked_1: One row: what was asked for.
-- answer_1: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person. Only people of positive weight count.
WITH microdata AS NOT MATERIALIZED (
  SELECT
    source."age" AS qid_1,
    source."illness" AS secret_1,
    CAST(source."occupation" AS INT128) AS weight
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
    source."occupation" > 0
), cells_0 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    CAST(1 AS BIGINT) AS people,
    weight,
    weight AS heaviest
  FROM microdata
), blocks_0 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    CAST(SUM(people) AS BIGINT) AS size,
    SUM(weight) AS weight,
    MAX(weight) AS mode,
    MAX(heaviest) AS heaviest,
    COUNT(*) AS "values"
  FROM cells_0 AS cells
  GROUP BY
    qid_1
), profile_0 AS NOT MATERIALIZED (
  SELECT
    size,
    "values",
    COUNT(*) AS blocks,
    SUM(weight) AS weight,
    SUM(mode) AS mode,
    SUM(heaviest) AS heaviest,
    MAX(mode / weight) AS chance,
    MAX(heaviest / weight) AS owner_chance
  FROM blocks_0 AS blocks
  GROUP BY
    size,
    "values"
), prior_cells_0 AS NOT MATERIALIZED (
  SELECT
    CAST(1 AS BIGINT) AS people,
    weight,
    weight AS heaviest
  FROM microdata
), prior_blocks_0 AS NOT MATERIALIZED (
  SELECT
    CAST(SUM(people) AS BIGINT) AS size,
    SUM(weight) AS weight,
    MAX(weight) AS mode,
    MAX(heaviest) AS heaviest,
    COUNT(*) AS "values"
  FROM prior_cells_0 AS cells
), prior_profile_0 AS NOT MATERIALIZED (
  SELECT
    size,
    "values",
    COUNT(*) AS blocks,
    SUM(weight) AS weight,
    SUM(mode) AS mode,
    SUM(heaviest) AS heaviest,
    MAX(mode / weight) AS chance,
    MAX(heaviest / weight) AS owner_chance
  FROM prior_blocks_0 AS blocks
  GROUP BY
    size,
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
      COALESCE(SUM(weight) FILTER(WHERE
        "values" = 1), 0) / SUM(weight) AS deterministic,
      SUM(mode) / SUM(weight) / (
        SELECT
          scale
        FROM asked_0 AS asked
      ) AS probabilistic
    FROM profile_0 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(weight) FILTER(WHERE
        "values" = 1), 0) / SUM(weight) AS deterministic,
      SUM(mode) / SUM(weight) / (
        SELECT
          scale
        FROM asked_0 AS asked
      ) AS probabilistic
    FROM prior_profile_0 AS prior
  ) AS before
), cells_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    secret_1,
    COUNT(*) AS people,
    SUM(weight) AS weight,
    MAX(weight) AS heaviest
  FROM microdata
  GROUP BY
    qid_1,
    secret_1
), blocks_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    CAST(SUM(people) AS BIGINT) AS size,
    SUM(weight) AS weight,
    MAX(weight) AS mode,
    MAX(heaviest) AS heaviest,
    COUNT(*) AS "values"
  FROM cells_1 AS cells
  GROUP BY
    qid_1
), profile_1 AS NOT MATERIALIZED (
  SELECT
    size,
    "values",
    COUNT(*) AS blocks,
    SUM(weight) AS weight,
    SUM(mode) AS mode,
    SUM(heaviest) AS heaviest,
    MAX(mode / weight) AS chance,
    MAX(heaviest / weight) AS owner_chance
  FROM blocks_1 AS blocks
  GROUP BY
    size,
    "values"
), prior_cells_1 AS NOT MATERIALIZED (
  SELECT
    secret_1,
    COUNT(*) AS people,
    SUM(weight) AS weight,
    MAX(weight) AS heaviest
  FROM microdata
  GROUP BY
    secret_1
), prior_blocks_1 AS NOT MATERIALIZED (
  SELECT
    CAST(SUM(people) AS BIGINT) AS size,
    SUM(weight) AS weight,
    MAX(weight) AS mode,
    MAX(heaviest) AS heaviest,
    COUNT(*) AS "values"
  FROM prior_cells_1 AS cells
), prior_profile_1 AS NOT MATERIALIZED (
  SELECT
    size,
    "values",
    COUNT(*) AS blocks,
    SUM(weight) AS weight,
    SUM(mode) AS mode,
    SUM(heaviest) AS heaviest,
    MAX(mode / weight) AS chance,
    MAX(heaviest / weight) AS owner_chance
  FROM prior_blocks_1 AS blocks
  GROUP BY
    size,
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
      COALESCE(SUM(weight) FILTER(WHERE
        "values" = 1), 0) / SUM(weight) AS deterministic,
      SUM(mode) / SUM(weight) / (
        SELECT
          scale
        FROM asked_1 AS asked
      ) AS probabilistic
    FROM profile_1 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(weight) FILTER(WHERE
        "values" = 1), 0) / SUM(weight) AS deterministic,
      SUM(mode) / SUM(weight) / (
        SELECT
          scale
        FROM asked_1 AS asked
      ) AS probabilistic
    FROM prior_profile_1 AS prior
  ) AS before
)
SELECT
  'CRS' AS model,
  NULL AS secret,
  *
FROM answer_0
UNION ALL
SELECT
  'CAS' AS model,
  'illness' AS secret,
  *
FROM answer_1;
