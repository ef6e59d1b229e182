-- microdata: One row per individual.
-- prior_cells_1: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- secret_values_1: One row per value of the secret, numbered from 1 in the secret's order, missing last.
-- prior_cells_2: One row per block and value of the secret that occurs in it: how many of the block's people have that value, and what they weigh (here one each).
-- secret_values_2: One row per value of the secret, numbered from 1 in the secret's order, missing last.
-- tallies: One row per block: how many of its people have value number 1 of the secret. The compiler repeats the last column for every value but one of every secret with few values, so that one pass over the data serves them all.
-- signatures: One row per kind of block with the same size and the same tallies.
-- tally_counts_1: One row per kind of block by the counts of all values of the secret, in their order, from its tallies. The last value is not tallied: it is what the others leave.
-- profile_1: The profile of one secret with few values, from its tallies.
-- tally_counts_2: One row per kind of block by the counts of all values of the secret, in their order, from its tallies. The last value is not tallied: it is what the others leave.
-- profile_2: The profile of one secret with few values, from its tallies.
WITH microdata AS NOT MATERIALIZED (
  SELECT
    source."age" AS qid_1,
    source."illness" AS secret_1,
    source."gender" AS secret_2
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
), prior_cells_2 AS NOT MATERIALIZED (
  SELECT
    secret_2,
    COUNT(*) AS people,
    COUNT(*) AS weight,
    CAST(1 AS BIGINT) AS heaviest
  FROM microdata
  GROUP BY
    secret_2
), secret_values_2 AS MATERIALIZED (
  SELECT
    secret_2 AS value,
    ROW_NUMBER() OVER (ORDER BY secret_2 ASC) AS code
  FROM prior_cells_2 AS prior_cells
), tallies AS NOT MATERIALIZED (
  SELECT
    qid_1,
    COUNT(*) AS size,
    COUNT(*) FILTER(WHERE
      secret_1 IS NOT DISTINCT FROM (
        SELECT
          value
        FROM secret_values_1
        WHERE
          code = 1
      )) AS tally_1_1,
    COUNT(*) FILTER(WHERE
      secret_2 IS NOT DISTINCT FROM (
        SELECT
          value
        FROM secret_values_2
        WHERE
          code = 1
      )) AS tally_2_1
  FROM microdata
  GROUP BY
    qid_1
), signatures AS MATERIALIZED (
  SELECT
    size,
    tally_1_1,
    tally_2_1,
    COUNT(*) AS blocks
  FROM tallies
  GROUP BY
    size,
    tally_1_1,
    tally_2_1
), tally_counts_1 AS MATERIALIZED (
  SELECT
    LIST_APPEND([tally_1_1], last_tally) AS counts,
    CAST(SUM(blocks) AS BIGINT) AS blocks
  FROM (
    SELECT
      *,
      size - CAST(COALESCE(LIST_SUM([tally_1_1]), 0) AS BIGINT) AS last_tally
    FROM signatures
  ) AS signatures
  GROUP BY
    counts
), profile_1 AS NOT MATERIALIZED (
  SELECT
    CAST(LIST_SUM(counts) AS BIGINT) AS size,
    LIST_MAX(counts) AS mode,
    LENGTH(LIST_FILTER(counts, LAMBDA c : c > 0)) AS "values",
    CAST(SUM(blocks) AS BIGINT) AS blocks
  FROM tally_counts_1 AS tally_counts
  GROUP BY ALL
), tally_counts_2 AS MATERIALIZED (
  SELECT
    LIST_APPEND([tally_2_1], last_tally) AS counts,
    CAST(SUM(blocks) AS BIGINT) AS blocks
  FROM (
    SELECT
      *,
      size - CAST(COALESCE(LIST_SUM([tally_2_1]), 0) AS BIGINT) AS last_tally
    FROM signatures
  ) AS signatures
  GROUP BY
    counts
), profile_2 AS NOT MATERIALIZED (
  SELECT
    CAST(LIST_SUM(counts) AS BIGINT) AS size,
    LIST_MAX(counts) AS mode,
    LENGTH(LIST_FILTER(counts, LAMBDA c : c > 0)) AS "values",
    CAST(SUM(blocks) AS BIGINT) AS blocks
  FROM tally_counts_2 AS tally_counts
  GROUP BY ALL
)
SELECT
  1 AS secret,
  0 AS gain,
  1 AS scale,
  profile_1.*
FROM profile_1
UNION ALL
SELECT
  2 AS secret,
  0 AS gain,
  1 AS scale,
  profile_2.*
FROM profile_2;
