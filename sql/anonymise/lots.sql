-- Lots: one record of each person, and what that changes; cells that are drawn by a matrix.

-- One row: who is alone in a block before and after records are dropped. Whoever was alone and
-- stays is alone after it, too; who was not may be alone then.
CREATE OR REPLACE VIEW changes AS
SELECT
    count(*) FILTER (WHERE before = 1) AS singled_out_before,
    count(*) FILTER (WHERE before = 1 AND after = 1) AS still_singled_out,
    count(*) FILTER (WHERE before = 1 AND after = 0) AS lost,
    count(*) FILTER (WHERE before > 1 AND after = 1) AS singled_out_only_after,
    count(*) FILTER (WHERE after = 1) AS singled_out_after
FROM (
    SELECT
        count(*) AS before,
        count(*) FILTER (WHERE member_of) AS after
    FROM microdata
    GROUP BY qid
) AS counted;

-- One row per key that several records have, and one for the records without a key: how many.
CREATE OR REPLACE VIEW repeats AS
SELECT
    key,
    count(*) AS records
FROM keyed
GROUP BY key
HAVING count(*) > 1 OR key IS NULL;

-- One row per record, with a text of the seed and of its cells, each after its length. a and A
-- differ.
{# told(columns=2) #}
CREATE OR REPLACE VIEW told AS
SELECT
    numbered.*,
    concat(
        {% for i in range(1, columns + 1) %}
        {{ "wanted_seed, '|'," if loop.first }}
        CASE
            WHEN column_{{ i }} IS NULL THEN '-'
            ELSE concat(strlen(column_{{ i }}::VARCHAR), ':', column_{{ i }}::VARCHAR)
        END{{ "," if not loop.last }}
        {% endfor %}
    ) COLLATE C AS record
FROM numbered;

-- One row per record of a person with several: where it stands, and its text.
CREATE OR REPLACE VIEW contenders AS
SELECT
    told.position,
    told.key,
    told.record
FROM told
SEMI JOIN repeats ON told.key = repeats.key;

-- One row per record of a person with several: the lot that it draws, wherever it stands.
-- Identical records of a person draw in turn, each a lot of its own.
CREATE OR REPLACE VIEW lots AS
SELECT
    position,
    key,
    record,
    md5(concat(row_number() OVER (PARTITION BY key, record ORDER BY position), '/', record)) AS lot
FROM contenders;

-- One row: how many people have several records, how many of these are too many, and how many
-- records have no key.
CREATE OR REPLACE VIEW surplus AS
SELECT
    count(*) FILTER (WHERE key IS NOT NULL) AS people_with_several,
    coalesce(sum(records - 1) FILTER (WHERE key IS NOT NULL), 0)::BIGINT AS dropped,
    coalesce(sum(records) FILTER (WHERE key IS NULL), 0)::BIGINT AS without_key
FROM repeats;

-- One row per person with several records: where the one with the least lot stands. Equal lots of
-- different records are told apart by the records.
CREATE OR REPLACE VIEW winners AS
SELECT
    key,
    arg_min(position, concat(lot, record)) AS position
FROM lots
GROUP BY key;

-- One row per record that is not kept: where it stands.
CREATE OR REPLACE VIEW dropped AS
SELECT lots.position
FROM lots ANTI JOIN winners ON lots.position = winners.position;

-- One row per record: the cells that are drawn again, and the lot of each, below 2 to the power of 60.
-- Identical records draw in turn, each lots of its own.
{# draws(drawn=[1, 2]) #}
CREATE OR REPLACE VIEW draws AS
SELECT
    twins.position,
    {% for i in drawn %}
    twins.column_{{ i }} AS value_{{ i }},
    (
        md5_number(concat({{ i }}, '/', twins.copy, '/', twins.record)) % 1152921504606846976
    )::BIGINT AS lot_{{ i }}{{ "," if not loop.last }}
    {% endfor %}
FROM (
    SELECT
        told.position,
        told.record,
        {% for i in drawn %}
        told.column_{{ i }},
        {% endfor %}
        row_number() OVER (PARTITION BY told.record ORDER BY told.position) AS copy
    FROM told
) AS twins;

-- One row per value of a column whose cells are drawn: its number, from 1 in the order of the values,
-- and how many records have it.
CREATE OR REPLACE VIEW values_here AS
SELECT
    row_number() OVER (ORDER BY value ASC NULLS LAST) AS code,
    value,
    frequency
FROM (
    SELECT
        cell AS value,
        count(*) AS frequency
    FROM draws
    GROUP BY cell
) AS counted;

-- One row per value that is not missing: its share, the chance `move` of each other value in the first
-- stage of an invariant matrix, how much likelier it is to stay itself, and the chance that anybody
-- has it after this stage.
CREATE OR REPLACE VIEW stages AS
SELECT
    value,
    share,
    move,
    stay - move AS extra,
    (stay - move) * share + move AS reached
FROM (
    SELECT
        value,
        frequency / sum(frequency) OVER () AS share,
        CASE WHEN count(*) OVER () > 1 THEN pd_numerator / pd_denominator ELSE 1 END AS stay,
        CASE
            WHEN count(*) OVER () > 1
                THEN (1 - pd_numerator / pd_denominator) / (count(*) OVER () - 1)
            ELSE 0
        END AS move
    FROM values_here
    WHERE value IS NOT NULL
) AS chances;

-- One row per value and value that may take its place in an invariant matrix: the probability. The
-- second stage takes a value back to one that it may have come from; with 1 - alpha nothing is done.
-- The share is that of the first value.
CREATE OR REPLACE VIEW invariant AS
SELECT
    before,
    after,
    probability,
    share
FROM (
    SELECT
        first.value AS before,
        second.value AS after,
        first.share,
        CASE WHEN first.value = second.value THEN 1 - alpha_numerator / alpha_denominator ELSE 0 END
        + alpha_numerator / alpha_denominator * second.share * (
            CASE WHEN first.value = second.value THEN first.extra ^ 2 / first.reached ELSE 0 END
            + first.extra * first.move / first.reached
            + first.extra * first.move / second.reached
            + first.move ^ 2 * inverses.total
        ) AS probability
    FROM stages AS first
    CROSS JOIN stages AS second
    CROSS JOIN (SELECT sum(1 / reached ORDER BY value ASC) AS total FROM stages) AS inverses
) AS pairs
WHERE probability > 0;

-- One row about a given matrix: how many values it does not list, missing ones aside, how many records
-- have these, and how many values it lists.
CREATE OR REPLACE VIEW unlisted AS
SELECT
    count(*) FILTER (WHERE value IS NOT NULL AND NOT is_listed) AS staying_values,
    coalesce(sum(frequency) FILTER (WHERE value IS NOT NULL AND NOT is_listed), 0)::BIGINT AS staying_records,
    count(*) FILTER (WHERE is_listed) AS listed_values
FROM (
    SELECT
        value,
        frequency,
        EXISTS (
            SELECT 1 FROM matrix WHERE matrix.before IS NOT DISTINCT FROM values_here.value
        ) AS is_listed
    FROM values_here
) AS compared;

-- One row per value and value that may take its place: the least lot for that. A value that the matrix
-- does not list stays.
CREATE OR REPLACE VIEW turns AS
SELECT
    code,
    after,
    below
FROM (
    SELECT
        values_here.code,
        matrix.after,
        (
            (
                sum(matrix.probability) OVER (
                    PARTITION BY values_here.code
                    ORDER BY matrix.after ASC NULLS LAST ROWS UNBOUNDED PRECEDING
                ) - matrix.probability
            ) * 1152921504606846976
        )::BIGINT AS below
    FROM values_here
    JOIN matrix ON matrix.before IS NOT DISTINCT FROM values_here.value
    UNION ALL
    SELECT
        values_here.code,
        values_here.value AS after,
        0::BIGINT AS below
    FROM values_here
    ANTI JOIN matrix ON matrix.before IS NOT DISTINCT FROM values_here.value
) AS every;

-- One row per record: its value of a column, and the value that takes its place.
CREATE OR REPLACE VIEW drawn AS
SELECT
    lots.position,
    lots.before,
    turns.after
FROM (
    SELECT
        draws.position,
        values_here.code,
        values_here.value AS before,
        draws.lot
    FROM draws
    JOIN values_here ON values_here.value IS NOT DISTINCT FROM draws.cell
) AS lots
ASOF JOIN turns ON lots.code = turns.code AND lots.lot >= turns.below;

-- One row per value of a column of a CSV file: the shortest text of the file that is read as it, the
-- first of these. Cells that stay and cells that change to a value are written alike.
CREATE OR REPLACE VIEW writings AS
SELECT
    drawn.before AS value,
    arg_min(numbered.cell, (strlen(numbered.cell), numbered.cell)) AS text
FROM drawn
JOIN numbered ON numbered.position = drawn.position
WHERE drawn.before IS NOT NULL
GROUP BY drawn.before;

-- One row about a column whose cells were drawn: its records, values before, records with another
-- value, the sum of the differences in how many records have a value, and how many records the matrix
-- changes in the mean.
CREATE OR REPLACE VIEW randomised AS
SELECT
    (SELECT count(*) FROM drawn) AS records,
    (SELECT count(*) FROM values_here) AS values_before,
    (SELECT count(*) FROM drawn WHERE before IS DISTINCT FROM after) AS changed,
    (
        SELECT sum(abs(difference))::BIGINT
        FROM (
            SELECT
                value,
                sum(records) AS difference
            FROM (
                SELECT
                    before AS value,
                    count(*) AS records
                FROM drawn
                GROUP BY before
                UNION ALL
                SELECT
                    after AS value,
                    -count(*) AS records
                FROM drawn
                GROUP BY after
            ) AS both_sides
            GROUP BY value
        ) AS differences
    ) AS moved,
    (
        SELECT coalesce(sum(values_here.frequency * matrix.probability ORDER BY matrix.probability), 0)
        FROM values_here
        JOIN matrix ON matrix.before IS NOT DISTINCT FROM values_here.value
        WHERE matrix.before IS DISTINCT FROM matrix.after
    ) AS expected;
