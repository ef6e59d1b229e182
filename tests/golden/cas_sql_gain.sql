-- microdata: One row per individual.
-- prior_cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- secret_values_1: One row per value of the secret, numbered from 1 in the secret's order, missing last.
-- pairs_1_1: One row per guess and value of the secret: what the guess gains.
-- scale_1_1: One row: the factor that turns gains into whole numbers of at most 60 bits, fewer where weights take many, so that sums of them are exact and of no order: 10 to the power of 9 if all gains have at most 9 decimals and fit, else a power of two.
-- usual_gains_1_1: One row per guess: what it gains from most values of the secret (from a sample of them, where there are many), times `scale`.
-- stakes_1_1: One row per guess: what it usually gains, and its rank by that, the best first. One guess is to abstain: it gains nothing.
-- cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- unusual_1_1: One row per guess and value of the secret of which it gains something unusual: how much more than usual, times `scale`.
-- expected_1_1: One row per block and guess that gains something unusual from a value that occurs there: how much more than usual, summed over the block's people.
-- gained_1_1: One row per block for an adversary with a gain for every guess and value: `mode` is what her best guess gains, times `scale`. It is one of the guesses that gain something unusual there, or the usually best one of the others, whose rank is the first that is missing.
-- profile_1_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- prior_blocks_1: One row per block, the people whom the adversary cannot tell apart: how many they are, what they weigh (here one each), how many share the most frequent value of the secret (the adversary's best guess is right for these), how many values occur.
-- prior_expected_1_1: One row per block and guess that gains something unusual from a value that occurs there: how much more than usual, summed over the block's people.
-- prior_gained_1_1: One row per block for an adversary with a gain for every guess and value: `mode` is what her best guess gains, times `scale`. It is one of the guesses that gain something unusual there, or the usually best one of the others, whose rank is the first that is missing.
-- prior_profile_1_1: One row per kind of block: how many blocks have that size, that mode and that many values of the secret. Every measure is computed from this table.
-- asked_1_1: One row: what was asked for.
-- answer_1_1: One row, the answer: success before (prior) and after (posterior) the release. `prior` is the profile of the same attack with no quasi-identifiers; `matches` are the people attacked: everybody, or the look-alikes of one person.
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
), pairs_1_1 AS NOT MATERIALIZED (
  SELECT
    guess_code AS guess,
    code,
    CAST(CASE WHEN source."guess" = source."secret" THEN 3 ELSE -1 END AS DOUBLE) AS gain
  FROM (
    SELECT
      guesses.code AS guess_code,
      guesses.value AS guess,
      secrets.code,
      secrets.value AS secret
    FROM secret_values_1 AS guesses
    CROSS JOIN secret_values_1 AS secrets
  ) AS source
), scale_1_1 AS NOT MATERIALIZED (
  SELECT
    CASE
      WHEN short AND most * POWER(10, 9) < POWER(2, bits)
      THEN POWER(10, 9)
      ELSE POWER(2, bits - COALESCE(CEIL(LOG2(NULLIF(most, 0))), 0))
    END AS scale
  FROM (
    SELECT
      MAX(ABS(gain)) AS most,
      BOOL_AND(CAST(ROUND(gain, 9) = gain AS BOOLEAN)) AS short,
      LEAST(
        60,
        120 - CEIL(
          LOG2((
            SELECT
              CAST(SUM(weight) AS DOUBLE)
            FROM prior_cells_1 AS prior_cells
          ))
        )
      ) AS bits
    FROM pairs_1_1 AS pairs
  ) AS gains
), usual_gains_1_1 AS NOT MATERIALIZED (
  SELECT
    guess,
    MODE(
      CAST(ROUND(gain * (
        SELECT
          scale
        FROM scale_1_1 AS scale
      )) AS INT128) ORDER BY gain
    ) AS usual
  FROM pairs_1_1 AS pairs
  WHERE
    code % GREATEST(1, (
      SELECT
        COUNT(*)
      FROM secret_values_1 AS secret_values
    ) // 128) = 0
  GROUP BY
    guess
), stakes_1_1 AS MATERIALIZED (
  SELECT
    guess,
    usual,
    ROW_NUMBER() OVER (ORDER BY usual DESC, guess ASC) AS rank
  FROM (
    SELECT
      guess,
      usual
    FROM usual_gains_1_1 AS usual_gains
    UNION ALL
    SELECT
      0 AS guess,
      0 AS usual
  ) AS guesses
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
), unusual_1_1 AS NOT MATERIALIZED (
  SELECT
    stakes.rank,
    pairs.code,
    CAST(ROUND(pairs.gain * (
      SELECT
        scale
      FROM scale_1_1 AS scale
    )) AS INT128) - stakes.usual AS extra
  FROM pairs_1_1 AS pairs
  JOIN stakes_1_1 AS stakes
    ON stakes.guess IS NOT DISTINCT FROM pairs.guess
  WHERE
    CAST(ROUND(pairs.gain * (
      SELECT
        scale
      FROM scale_1_1 AS scale
    )) AS INT128) <> stakes.usual
), expected_1_1 AS NOT MATERIALIZED (
  SELECT
    cells.qid_1,
    unusual.rank,
    SUM(cells.weight * unusual.extra) AS extra
  FROM cells_1 AS cells
  JOIN secret_values_1 AS secret_values
    ON secret_values.value IS NOT DISTINCT FROM cells.secret_1
  JOIN unusual_1_1 AS unusual
    ON unusual.code = secret_values.code
  GROUP BY
    cells.qid_1,
    unusual.rank
), gained_1_1 AS NOT MATERIALIZED (
  SELECT
    touched.qid_1,
    touched.size,
    touched.weight,
    GREATEST(touched.best, others.usual * touched.weight) AS mode,
    touched.heaviest,
    touched."values"
  FROM (
    SELECT
      blocks.qid_1,
      blocks.size,
      blocks.weight,
      blocks.heaviest,
      blocks."values",
      MAX(expected.extra + stakes.usual * blocks.weight) AS best,
      ARRAY_AGG(expected.rank ORDER BY expected.rank) FILTER(WHERE
        NOT expected.rank IS NULL) AS ranks
    FROM blocks_1 AS blocks
    LEFT JOIN expected_1_1 AS expected
      ON expected.qid_1 IS NOT DISTINCT FROM blocks.qid_1
    LEFT JOIN stakes_1_1 AS stakes
      ON stakes.rank = expected.rank
    GROUP BY
      blocks.qid_1,
      blocks.size,
      blocks.weight,
      blocks.heaviest,
      blocks."values"
  ) AS touched
  LEFT JOIN stakes_1_1 AS others
    ON others.rank = COALESCE(
      NULLIF(LIST_POSITION(LIST_TRANSFORM(touched.ranks, LAMBDA r, i : r = i), FALSE), 0),
      LENGTH(touched.ranks) + 1,
      1
    )
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
), prior_blocks_1 AS NOT MATERIALIZED (
  SELECT
    CAST(SUM(weight) AS BIGINT) AS size,
    CAST(SUM(weight) AS BIGINT) AS weight,
    MAX(weight) AS mode,
    CAST(1 AS BIGINT) AS heaviest,
    COUNT(*) AS "values"
  FROM prior_cells_1 AS cells
), prior_expected_1_1 AS NOT MATERIALIZED (
  SELECT
    unusual.rank,
    SUM(cells.weight * unusual.extra) AS extra
  FROM prior_cells_1 AS cells
  JOIN secret_values_1 AS secret_values
    ON secret_values.value IS NOT DISTINCT FROM cells.secret_1
  JOIN unusual_1_1 AS unusual
    ON unusual.code = secret_values.code
  GROUP BY
    unusual.rank
), prior_gained_1_1 AS NOT MATERIALIZED (
  SELECT
    touched.size,
    touched.weight,
    GREATEST(touched.best, others.usual * touched.weight) AS mode,
    touched.heaviest,
    touched."values"
  FROM (
    SELECT
      blocks.size,
      blocks.weight,
      blocks.heaviest,
      blocks."values",
      MAX(expected.extra + stakes.usual * blocks.weight) AS best,
      ARRAY_AGG(expected.rank ORDER BY expected.rank) FILTER(WHERE
        NOT expected.rank IS NULL) AS ranks
    FROM prior_blocks_1 AS blocks
    LEFT JOIN prior_expected_1_1 AS expected
      ON TRUE
    LEFT JOIN stakes_1_1 AS stakes
      ON stakes.rank = expected.rank
    GROUP BY
      blocks.size,
      blocks.weight,
      blocks.heaviest,
      blocks."values"
  ) AS touched
  LEFT JOIN stakes_1_1 AS others
    ON others.rank = COALESCE(
      NULLIF(LIST_POSITION(LIST_TRANSFORM(touched.ranks, LAMBDA r, i : r = i), FALSE), 0),
      LENGTH(touched.ranks) + 1,
      1
    )
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
), asked_1_1 AS NOT MATERIALIZED (
  SELECT
    scale AS scale,
    1 AS tries,
    0 AS penalty,
    CAST(0.000000000 AS DECIMAL(20, 9)) AS tolerance,
    [] AS thresholds,
    [] AS quantiles
  FROM scale_1_1
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
  'illness' AS secret,
  'sql:CASE WHEN guess = secret THEN 3 ELSE -1 END' AS gain,
  *
FROM answer_1_1;
