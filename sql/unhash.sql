-- Hashes of a column, and the words that may have been hashed.

-- One row per record: the hash in its cell as lower-case hexadecimal digits, if there is one of so many
-- bytes: as digits, as base64, or as it is; whether the cell is missing; how many hexadecimal digits it
-- has, NULL if it has other characters.
{# hashed(bytes=16, uuid=False, blob=False), hashed(bytes=20, uuid=False, blob=True), hashed(bytes=16, uuid=True, blob=False) #}
CREATE OR REPLACE VIEW hashed AS
SELECT
    {% if uuid %}
    replace(text, '-', '') AS digest,
    {% else %}
    CASE
        {% if blob %}
        WHEN octet_length(cell) = {{ bytes }} THEN lower(hex(cell))
        {% endif %}
        WHEN length(text) = {{ 2 * bytes }} AND regexp_full_match(text, '[0-9A-Fa-f]+') THEN lower(text)
        WHEN
            length(text) = {{ (bytes + 2) // 3 * 4 }}
            AND regexp_full_match(text, '[A-Za-z0-9+/]+{{ "=" * (-bytes % 3) }}')
        THEN lower(hex(try(from_base64(text))))
    END AS digest,
    {% endif %}
    cell IS NULL AS missing,
    {% if blob %}
    2 * octet_length(cell) AS digits
    {% else %}
    CASE WHEN regexp_full_match(text, '[0-9A-Fa-f]+') THEN length(text) END AS digits
    {% endif %}
FROM (
    SELECT
        cell,
        {{ "try(decode(cell))" if blob else "cell::VARCHAR" }} AS text
    FROM cells
) AS read_cells;

-- One row per different hash of the column: how many records have it. NULL: no hash of that kind.
CREATE OR REPLACE VIEW digests AS
SELECT
    digest,
    count(*) AS records,
    count(*) FILTER (WHERE missing) AS missing
FROM hashed
GROUP BY digest;

-- One row per number of hexadecimal digits that cells have that are no hash of the kind asked for:
-- how many cells. NULL: something else than hexadecimal digits.
CREATE OR REPLACE VIEW unfit AS
SELECT
    digits,
    count(*) AS cells
FROM hashed
WHERE digest IS NULL AND NOT missing
GROUP BY digits;

-- One row per state and character that may follow in a word of the patterns: the state after it.
CREATE OR REPLACE VIEW moves AS
SELECT
    steps.state,
    chr(symbols.code) AS symbol,
    steps.after
FROM steps
JOIN symbols ON symbols.kind = steps.kind;

-- One row per beginning of a word, of as many characters as words are cut after, and the state that
-- it leads to; state -1 for a whole word that is shorter.
CREATE OR REPLACE VIEW prefixes AS
WITH RECURSIVE grown AS (
    SELECT
        '' AS text,
        0 AS state,
        characters AS missing
    FROM cut
    UNION ALL
    SELECT
        concat(grown.text, moves.symbol) AS text,
        moves.after AS state,
        grown.missing - 1 AS missing
    FROM grown
    JOIN moves ON moves.state = grown.state
    WHERE grown.missing > 0
)
SELECT
    grown.text,
    CASE WHEN grown.missing = 0 THEN grown.state ELSE -1 END AS state
FROM grown
WHERE grown.missing = 0 OR grown.state IN (SELECT state FROM finals);

-- One row per state that a beginning leads to and end of a word that may follow it.
CREATE OR REPLACE VIEW suffixes AS
WITH RECURSIVE grown AS (
    SELECT DISTINCT
        state AS first,
        '' AS text,
        state
    FROM prefixes
    UNION ALL
    SELECT
        grown.first,
        concat(grown.text, moves.symbol) AS text,
        moves.after AS state
    FROM grown
    JOIN moves ON moves.state = grown.state
)
SELECT
    grown.first AS state,
    grown.text
FROM grown
WHERE grown.state = -1 OR grown.state IN (SELECT state FROM finals);

-- One row per word of the patterns, each once: what may have been hashed.
CREATE OR REPLACE VIEW candidates AS
SELECT concat(prefixes.text, suffixes.text) AS candidate
FROM prefixes
JOIN suffixes ON suffixes.state = prefixes.state;

-- One row per candidate: its hash with the salt before and after it, by the function with so many bytes.
{# tried(bytes=16, salted=True), tried(bytes=20, salted=False), tried(bytes=32, salted=False) #}
CREATE OR REPLACE VIEW tried AS
SELECT
    candidate,
    {{ {16: "md5", 20: "sha1", 32: "sha256"}[bytes] }}({{ "concat(salt.before, candidate, salt.after)" if salted else "candidate" }}) AS digest
FROM candidates {{ "CROSS JOIN salt" if salted }};

-- One row per candidate whose hash is in the column.
CREATE OR REPLACE VIEW found AS
SELECT
    tried.digest,
    tried.candidate
FROM tried
SEMI JOIN digests ON tried.digest = digests.digest;

-- One row per hash and candidate that gives it: the mapping back, with the records of the hash.
CREATE OR REPLACE VIEW mapping AS
SELECT DISTINCT
    matches.digest,
    matches.candidate,
    digests.records
FROM matches
JOIN digests ON digests.digest = matches.digest
ORDER BY matches.digest, matches.candidate;

-- One row: the records and how many of them have a hash or a missing value; the different hashes;
-- how many of both were found again, and how many hashes are those of several candidates.
CREATE OR REPLACE VIEW recovered AS
SELECT
    coalesce(sum(digests.records), 0)::BIGINT AS records,
    coalesce(sum(digests.missing), 0)::BIGINT AS missing,
    coalesce(sum(digests.records) FILTER (WHERE digests.digest IS NOT NULL), 0)::BIGINT AS hashed,
    count(digests.digest) AS "values",
    count(preimages.digest) AS recovered_values,
    coalesce(sum(digests.records) FILTER (WHERE preimages.candidates > 0), 0)::BIGINT AS recovered_records,
    count(*) FILTER (WHERE preimages.candidates > 1) AS ambiguous
FROM digests
LEFT JOIN (
    SELECT
        digest,
        count(DISTINCT candidate) AS candidates
    FROM matches
    GROUP BY digest
) AS preimages ON preimages.digest = digests.digest;
