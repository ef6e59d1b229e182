-- Keys that several records of a log share, and people whom columns without a rule single out.

-- One row: how many keys records have, and how many of these keys several records have. Records
-- without a key are nobody's.
CREATE OR REPLACE VIEW persons AS
SELECT
    count(*) AS people,
    count(*) FILTER (WHERE records > 1) AS several
FROM (
    SELECT
        key,
        count(*) AS records
    FROM keyed
    WHERE key IS NOT NULL
    GROUP BY key
) AS counted;

-- One row per column: how many people are alone in their block if it is known besides the
-- quasi-identifiers `qids`. All `columns`, further quasi-identifiers of one type, are counted at
-- once.
{# alone_with_each(qids=[1, 2], columns=[3, 4]), alone_with_each(qids=[1], columns=[2]) #}
CREATE OR REPLACE VIEW alone_with_each AS
SELECT
    number,
    count(*) FILTER (WHERE people = 1) AS singled_out
FROM (
    SELECT
        {{ qids | each("qid_#,") }}
        cell.number,
        count(*) AS people
    FROM (
        SELECT
            {{ qids | each("qid_#,") }}
            unnest([{{ columns | each("{'number': #, 'value': qid_#}", ", ") }}]) AS cell
        FROM microdata
    ) AS unfolded
    GROUP BY {{ qids | each("qid_#,") }} cell.number, cell.value
) AS counted
GROUP BY number;
