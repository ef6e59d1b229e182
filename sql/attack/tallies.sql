-- Secrets of few values: how many people of each block have each of them, counted in one pass.

-- One row per value of the secret, numbered from 1 in the secret's order, missing last.
CREATE OR REPLACE VIEW secret_values AS
SELECT
    secret AS value,
    row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code
FROM prior_cells;

-- One row per block: how many of its people have value number 1 of the secret.
-- The compiler repeats the last column for every value but one of every secret with few values,
-- so that one pass over the data serves them all.
CREATE OR REPLACE VIEW tallies AS
SELECT
    qid,
    count(*) AS size,
    count(*) FILTER (
        WHERE secret IS NOT DISTINCT FROM (SELECT value FROM secret_values WHERE code = 1)
    ) AS tally
FROM microdata
GROUP BY qid;

-- One row per kind of block with the same size and the same tallies.
CREATE OR REPLACE VIEW signatures AS
SELECT
    size,
    tally,
    count(*) AS blocks
FROM tallies
GROUP BY size, tally;

-- One row per kind of block by the counts of all values of the secret, in their order, from its
-- tallies. The last value is not tallied: it is what the others leave.
CREATE OR REPLACE VIEW tally_counts AS
SELECT
    list_append([tally], last_tally) AS counts,
    sum(blocks)::BIGINT AS blocks
FROM (
    SELECT
        *,
        size - coalesce(list_sum([tally]), 0)::BIGINT AS last_tally
    FROM signatures
) AS signatures
GROUP BY counts;

-- The profile of one secret with few values, from its tallies.
CREATE OR REPLACE VIEW tally_profile AS
SELECT
    list_sum(counts)::BIGINT AS size,
    list_max(counts) AS mode,
    len(list_filter(counts, lambda c: c > 0)) AS "values",
    sum(blocks)::BIGINT AS blocks
FROM tally_counts
GROUP BY ALL;

-- The profile when the secret is whose record it is, from tallies.
CREATE OR REPLACE VIEW tally_owners AS
SELECT
    size,
    1::BIGINT AS mode,
    size AS "values",
    sum(blocks)::BIGINT AS blocks
FROM signatures
GROUP BY size;

-- One row per kind of block by the counts of its values, whichever these are, from its tallies.
CREATE OR REPLACE VIEW tally_spectra AS
SELECT
    list_reverse_sort(list_filter(counts, lambda c: c > 0)) AS counts,
    sum(blocks)::BIGINT AS blocks
FROM tally_counts
GROUP BY 1;

-- The multiplicative Bayes capacity, from tallies: see capacity.
CREATE OR REPLACE VIEW tally_capacity AS
SELECT
    -best.everybody AS everybody,
    sum(blocks * best.people) AS people
FROM (
    SELECT
        tally_counts.blocks,
        list_max(
            list_transform(
                tally_counts.counts,
                lambda c, i: {
                    'share': c / everybody.counts[i],
                    'everybody': -everybody.counts[i],
                    'people': c
                }
            )
        ) AS best
    FROM tally_counts
    CROSS JOIN (
        SELECT list(weight ORDER BY secret ASC NULLS LAST) AS counts FROM prior_cells
    ) AS everybody
) AS shares
GROUP BY best.everybody;
