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

-- One row per kind of block in which somebody reports the secret: the counts of its values without
-- that of the missing one, which is the last.
CREATE OR REPLACE VIEW reported_tally_counts AS
SELECT
    list_slice(counts, 1, len(counts) - 1) AS counts,
    blocks
FROM tally_counts
WHERE list_sum(list_slice(counts, 1, len(counts) - 1)) > 0;

-- The people in blocks in which nobody reports the secret, from its tallies: see unreported.
CREATE OR REPLACE VIEW tally_unreported AS
SELECT coalesce(sum(list_sum(counts) * blocks), 0)::BIGINT AS people
FROM tally_counts
WHERE coalesce(list_sum(list_slice(counts, 1, len(counts) - 1)), 0) = 0;

-- The profile of one secret with few values, from its tallies.
CREATE OR REPLACE VIEW tally_profile AS
SELECT
    list_sum(counts)::BIGINT AS size,
    list_max(counts) AS mode,
    len(list_filter(counts, lambda c: c > 0)) AS "values",
    sum(blocks)::BIGINT AS blocks
FROM tally_counts
GROUP BY ALL;

-- The same, and how many people in such blocks have the value that is guessed of everybody without the
-- release: of equally frequent ones the first.
CREATE OR REPLACE VIEW tally_profile_with_usual AS
SELECT
    list_sum(counts)::BIGINT AS size,
    list_max(counts) AS mode,
    len(list_filter(counts, lambda c: c > 0)) AS "values",
    sum(blocks)::BIGINT AS blocks,
    sum(list_extract(counts, list_position(everybody, list_max(everybody))) * blocks)::BIGINT
        AS usual
FROM tally_counts
CROSS JOIN (
    SELECT list(weight ORDER BY secret ASC NULLS LAST) AS everybody FROM prior_cells
) AS everyone
GROUP BY size, mode, "values";

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

-- One row per block and group of people: how many of its people in the group have value number 1
-- of the secret. The last column is repeated as in tallies.
CREATE OR REPLACE VIEW member_tallies AS
SELECT
    qid,
    member_of,
    count(*) AS size,
    count(*) FILTER (
        WHERE secret IS NOT DISTINCT FROM (SELECT value FROM secret_values WHERE code = 1)
    ) AS tally
FROM microdata
GROUP BY qid, member_of;

-- One row per group of people and kind of their blocks by size and tallies: how many people of the
-- group stand in such blocks, and the tallies of these people, for all secrets in one list.
CREATE OR REPLACE VIEW member_signatures AS
SELECT
    members.member_of,
    blocks.size,
    blocks.tally,
    sum(members.size)::BIGINT AS people,
    [sum(members.tally)::BIGINT] AS people_tallies
FROM member_tallies AS members
JOIN (
    SELECT
        qid,
        sum(size)::BIGINT AS size,
        sum(tally)::BIGINT AS tally
    FROM member_tallies
    GROUP BY qid
) AS blocks ON blocks.qid IS NOT DISTINCT FROM members.qid
GROUP BY members.member_of, blocks.size, blocks.tally;

-- The signatures of blocks from those of groups: the people of a kind of block, divided by its size.
CREATE OR REPLACE VIEW grouped_signatures AS
SELECT
    size,
    tally,
    (sum(people) // size)::BIGINT AS blocks
FROM member_signatures
GROUP BY size, tally;

-- One row per group of people and kind of their blocks: the counts of all values of the secret in
-- the block, in their order, and among the people of the group.
-- `positions` is one row: where the tallies of the secret are in the list of those of all secrets.
CREATE OR REPLACE VIEW member_counts AS
SELECT
    member_of,
    size,
    people,
    list_append([tally], size - coalesce(list_sum([tally]), 0)::BIGINT) AS counts,
    list_append(
        list_slice(people_tallies, positions.first_tally, positions.last_tally),
        people - coalesce(
            list_sum(list_slice(people_tallies, positions.first_tally, positions.last_tally)),
            0
        )::BIGINT
    ) AS people_counts
FROM member_signatures
CROSS JOIN positions;

-- One row per group of people and kind of their blocks by size, mode and number of values.
CREATE OR REPLACE VIEW member_kinds AS
SELECT
    member_of,
    size,
    list_max(counts) AS mode,
    len(list_filter(counts, lambda c: c > 0)) AS "values",
    sum(people)::BIGINT AS people
FROM member_counts
GROUP BY ALL;

-- The same when the secret is whose record it is.
CREATE OR REPLACE VIEW owner_member_kinds AS
SELECT
    member_of,
    size,
    1::BIGINT AS mode,
    size AS "values",
    sum(people)::BIGINT AS people
FROM member_signatures
GROUP BY ALL;

-- One row per group of people: see groups.
CREATE OR REPLACE VIEW tally_groups AS
SELECT
    member_of::VARCHAR AS member_of,
    sum(people)::BIGINT AS individuals,
    coalesce(sum(people) FILTER (WHERE size = 1), 0)::BIGINT AS singled_out,
    coalesce(sum(people) FILTER (WHERE "values" = 1), 0)::BIGINT AS certain,
    coalesce(sum(people) FILTER (WHERE "values" = 1), 0) / sum(people) AS deterministic,
    sum((people::DOUBLE / everybody::DOUBLE * pow(2, 60) * (mode / size))::HUGEINT) / pow(2, 60)
        AS probabilistic,
    max(mode / size) AS worst_case
FROM (
    SELECT
        *,
        sum(people) OVER (PARTITION BY member_of) AS everybody
    FROM member_kinds
) AS kinds
GROUP BY member_of;

-- One row per group of people: see guessed_right. Of equally frequent values the first is guessed.
CREATE OR REPLACE VIEW tally_guessed_right AS
SELECT
    member_of::VARCHAR AS member_of,
    sum(list_extract(people_counts, list_position(counts, list_max(counts)))) / sum(people)
        AS guessed_right
FROM member_counts
GROUP BY member_of;

-- One row per kind of block by the value whose share rises most, from tallies: see pointwise.
CREATE OR REPLACE VIEW tally_pointwise AS
SELECT
    size,
    best.people AS people,
    -best.everybody AS everybody,
    sum(blocks)::BIGINT AS blocks
FROM (
    SELECT
        list_sum(tally_counts.counts)::BIGINT AS size,
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
) AS rises
GROUP BY size, best.people, best.everybody;

-- One row per value of the secret: its number, as in secret_values, and the people who have it.
CREATE OR REPLACE VIEW numbered_values AS
SELECT
    weight AS people,
    row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code
FROM prior_cells;

-- One row per pair of values of the secret, from tallies: see value_overlaps.
CREATE OR REPLACE VIEW tally_value_overlaps AS
SELECT
    sum(
        tally_counts.blocks * least(
            tally_counts.counts[one_value.code]::HUGEINT * other_value.people,
            tally_counts.counts[other_value.code]::HUGEINT * one_value.people
        )
    )::HUGEINT AS overlap,
    any_value(one_value.people::HUGEINT * other_value.people) AS product
FROM tally_counts
CROSS JOIN numbered_values AS one_value
JOIN numbered_values AS other_value ON other_value.code > one_value.code
GROUP BY one_value.code, other_value.code;
