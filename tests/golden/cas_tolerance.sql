-- microdata: One row per individual.
-- cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- prior_cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- secret_values_1: One row per value of the secret, numbered from 1 in the secret's order, missing last.
-- numbers_1_1: One row per value of the secret, as a number.
-- asked_1_1: One row: what was asked for.
-- nearest_1_1: One row per value of the secret, a number: the highest value within the tolerance above it.
-- reaches_1_1: One row per value of the secret, a number: the highest value that a guess still hits which hits this one, too. Guesses are values of the secret and hit what is within the tolerance: the best guess for this value as the lowest is the furthest above it, and hits the furthest above that.
-- gained_1_1: One row per block for an adversary whose guess of a number is right within a tolerance: `mode` is the weight of all values that her best guess hits.
-- profile_1_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- prior_gained_1_1: One row per block for an adversary whose guess of a number is right within a tolerance: `mode` is the weight of all values that her best guess hits.
-- prior_profile_1_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- answer_1_1: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person.
WITH microdata AS NOT MATERIALIZED (
  SELECT
    source."age" AS qid_1,
    source."occupation" AS secret_1
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
), prior_cells_1 AS NOT MATERIALIZED (
  SELECT
    secret_1,
    COUNT(*) AS people,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS heaviest
  FROM microdata
  GROUP BY
    secret_1
), secret_values_1 AS MATERIALIZED (
  SELECT
    secret_1 AS value,
    ROW_NUMBER() OVER (ORDER BY secret_1 ASC) AS code
  FROM prior_cells_1 AS prior_cells
), numbers_1_1 AS NOT MATERIALIZED (
  SELECT
    code,
    value,
    CAST(value AS INT128) AS number
  FROM secret_values_1
), asked_1_1 AS NOT MATERIALIZED (
  SELECT
    1 AS scale,
    1 AS tries,
    0 AS penalty,
    CAST(1 AS INT128) AS tolerance,
    [] AS thresholds,
    [] AS quantiles
), nearest_1_1 AS NOT MATERIALIZED (
  SELECT
    numbers.code,
    numbers.value,
    CASE
      WHEN above.code IS NULL
      THEN numbers.code
      WHEN above.number = numbers.number
      THEN above.code
      WHEN above.number - numbers.number <= (
        SELECT
          tolerance
        FROM asked_1_1 AS asked
      )
      THEN above.code
      ELSE above.code - 1
    END AS furthest
  FROM numbers_1_1 AS numbers
  ASOF LEFT JOIN numbers_1_1 AS above
    ON numbers.number + (
      SELECT
        tolerance
      FROM asked_1_1 AS asked
    ) >= above.number
), reaches_1_1 AS NOT MATERIALIZED (
  SELECT
    nearest.code,
    nearest.value,
    beyond.furthest AS reach
  FROM nearest_1_1 AS nearest
  JOIN nearest_1_1 AS beyond
    ON beyond.code = nearest.furthest
), gained_1_1 AS NOT MATERIALIZED (
  SELECT
    qid_1,
    CAST(SUM(people) AS BIGINT) AS size,
    SUM(weight) AS weight,
    MAX(hit) AS mode,
    MAX(heaviest) AS heaviest,
    COUNT(*) AS "values"
  FROM (
    SELECT
      cells.qid_1,
      cells.people,
      cells.weight,
      cells.heaviest,
      SUM(cells.weight) OVER (
        PARTITION BY cells.qid_1
        ORDER BY reaches.code ASC
        RANGE BETWEEN CURRENT ROW AND (
          reaches.reach - reaches.code
        ) FOLLOWING
      ) AS hit
    FROM cells_1 AS cells
    JOIN reaches_1_1 AS reaches
      ON reaches.value IS NOT DISTINCT FROM cells.secret_1
  ) AS hits
  GROUP BY
    qid_1
), profile_1_1 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM gained_1_1 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), prior_gained_1_1 AS NOT MATERIALIZED (
  SELECT
    CAST(SUM(people) AS BIGINT) AS size,
    SUM(weight) AS weight,
    MAX(hit) AS mode,
    MAX(heaviest) AS heaviest,
    COUNT(*) AS "values"
  FROM (
    SELECT
      cells.people,
      cells.weight,
      cells.heaviest,
      SUM(cells.weight) OVER (
        ORDER BY reaches.code ASC
        RANGE BETWEEN CURRENT ROW AND (
          reaches.reach - reaches.code
        ) FOLLOWING
      ) AS hit
    FROM prior_cells_1 AS cells
    JOIN reaches_1_1 AS reaches
      ON reaches.value IS NOT DISTINCT FROM cells.secret_1
  ) AS hits
), prior_profile_1_1 AS NOT MATERIALIZED (
  SELECT
    size,
    mode,
    "values",
    COUNT(*) AS blocks
  FROM prior_gained_1_1 AS blocks
  GROUP BY
    size,
    mode,
    "values"
), answer_1_1 AS NOT MATERIALIZED (
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
        FROM asked_1_1 AS asked
      ) AS probabilistic
    FROM profile_1_1 AS profile
  ) AS after
  CROSS JOIN (
    SELECT
      CAST(SUM(size * blocks) AS BIGINT) AS people,
      COALESCE(SUM(size * blocks) FILTER(WHERE
        "values" = 1), 0) / SUM(size * blocks) AS deterministic,
      SUM(mode * blocks) / SUM(size * blocks) / (
        SELECT
          scale
        FROM asked_1_1 AS asked
      ) AS probabilistic
    FROM prior_profile_1_1 AS prior
  ) AS before
)
SELECT
  'CAS' AS model,
  'occupation' AS secret,
  'tolerance:1' AS gain,
  *
FROM answer_1_1;
