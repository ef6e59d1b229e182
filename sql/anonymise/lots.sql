-- One record of each person: lots, winners, and what that changes.

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

-- One row per record of a person with several: where it stands, the seed and its cells, each after its
-- length. a and A differ.
{# contenders(columns=2) #}
CREATE OR REPLACE VIEW contenders AS
SELECT
    numbered.position,
    numbered.key,
    concat(
        {% for i in range(1, columns + 1) %}
        {{ "wanted_seed, '|'," if loop.first }}
        CASE
            WHEN column_{{ i }} IS NULL THEN '-'
            ELSE concat(strlen(column_{{ i }}::VARCHAR), ':', column_{{ i }}::VARCHAR)
        END{{ "," if not loop.last }}
        {% endfor %}
    ) COLLATE C AS record
FROM numbered
SEMI JOIN repeats ON numbered.key = repeats.key;

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
