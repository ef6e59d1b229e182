-- What synthetic releases say about the people of an original: counts, blocks, guesses.

-- One row per different record of one file: how many records are alike.
CREATE OR REPLACE VIEW people AS
SELECT
    qid,
    count(*)::BIGINT AS people
FROM microdata
GROUP BY qid;

-- One row per different individual of one file whose people have several records: what is known of a
-- person, and after it her secrets, as columns of one kind, and how many are alike.
{# people_of_records(qids=2, secrets=1), people_of_records(qids=1, secrets=0) #}
CREATE OR REPLACE VIEW people_of_records AS
SELECT
    {{ range(1, qids + 1) | each("qid_#,") }}
    {% for j in range(1, secrets + 1) %}
    secret_{{ j }} AS qid_{{ qids + j }},
    {% endfor %}
    count(*)::BIGINT AS people
FROM microdata
GROUP BY ALL;

-- One row per value that an attribute has in any file: its code, in the order of the values, the
-- missing one last.
CREATE OR REPLACE VIEW dictionary AS
SELECT
    value,
    (row_number() OVER (ORDER BY value NULLS LAST) - 1)::BIGINT AS code
FROM (
    SELECT DISTINCT value
    FROM listed
) AS different;

-- One row per different record of all files: the codes of its quasi-identifiers, packed into words,
-- those of its secrets, and of its group where files have one, and how many records of each file are
-- like it. `columns` has the number of columns of each file, and `counts` whether its records count
-- as of the original, of the control and of each release (0: of all releases). `words` has for each
-- word its quasi-identifiers, with the lowest bits of their codes.
{# coded_files(columns=[3, 3, 2], counts=[[True, False, False, False], [False, False, True, True], [False, True, False, False]], words=[[[1, 0]], [[2, 0]]], secrets=[], group=3, releases=[1, 0]), coded_files(columns=[3, 3], counts=[[True, False, False], [False, False, True]], words=[[[1, 0], [2, 5]]], secrets=[3], group=0, releases=[1]) #}
CREATE OR REPLACE VIEW coded_files AS
SELECT
    {{ range(1, words | length + 1) | each("word_#,") }}
    {{ range(1, secrets | length + 1) | each("secret_#,") }}
    {% if group %}
    member,
    {% endif %}
    sum(original)::BIGINT AS original,
    sum(control)::BIGINT AS control,
    {{ releases | each("sum(synthetic_#)::BIGINT AS synthetic_#", ", ") }}
FROM (
    {% for width in columns %}
    {% set file = loop.index %}
    SELECT
        {% for fields in words %}
        {% set number = loop.index %}
        {% for i, shift in fields %}
        {{ "| " if not loop.first }}(of_{{ i }}.code << {{ shift }})
        {% endfor %}
        AS word_{{ number }},
        {% endfor %}
        {% for i in secrets %}
        of_{{ i }}.code AS secret_{{ loop.index }},
        {% endfor %}
        {% if group %}
        {{ "of_%d.code" % group if width >= group else "NULL::BIGINT" }} AS member,
        {% endif %}
        {{ "people" if counts[file - 1][0] else "0::BIGINT" }} AS original,
        {{ "people" if counts[file - 1][1] else "0::BIGINT" }} AS control
        {% for release in releases %}
        , {{ "people" if counts[file - 1][loop.index + 1] else "0::BIGINT" }} AS synthetic_{{ release }}
        {% endfor %}
    FROM people_{{ file }}
    {% for i in range(1, width + 1) %}
    INNER JOIN dictionary_{{ i }} AS of_{{ i }}
        ON people_{{ file }}.qid_{{ i }} IS NOT DISTINCT FROM of_{{ i }}.value
    {% endfor %}
    {{ "UNION ALL" if not loop.last }}
    {% endfor %}
) AS everybody
GROUP BY ALL;

-- One row per record of the original: its position in the input, the codes of its quasi-identifiers,
-- packed into words (see `coded_files`), and those of its secrets; these are all attributes.
{# coded_originals(words=[[[1, 0]], [[2, 0]]], secrets=[3], attributes=3), coded_originals(words=[[[1, 0], [2, 5]]], secrets=[], attributes=2) #}
CREATE OR REPLACE VIEW coded_originals AS
SELECT
    everybody.record
    {% for fields in words %}
    {% set number = loop.index %}
    {% for i, shift in fields %}
    {{ ", " if loop.first else "| " }}(of_{{ i }}.code << {{ shift }})
    {% endfor %}
    AS word_{{ number }}
    {% endfor %}
    {% for i in secrets %}
    , of_{{ i }}.code AS secret_{{ loop.index }}
    {% endfor %}
FROM everybody
{% for i in range(1, attributes + 1) %}
INNER JOIN dictionary_{{ i }} AS of_{{ i }} ON everybody.qid_{{ i }} IS NOT DISTINCT FROM of_{{ i }}.value
{% endfor %};

-- One row per value of a secret in a file: whether no value is more frequent in the release (modal),
-- and among the people of the control (typical).
CREATE OR REPLACE VIEW modes AS
SELECT
    secret,
    records = max(records) OVER () AS modal,
    control = max(control) OVER () AS typical
FROM (
    SELECT
        secret,
        sum(cells.synthetic)::BIGINT AS records,
        sum(cells.control)::BIGINT AS control
    FROM cells
    GROUP BY secret
) AS totals;

-- One row: the people with the most frequent value of a secret among those of the original and of
-- the control, and how many values are most frequent in the release and in the control.
CREATE OR REPLACE VIEW priors AS
SELECT
    max(totals.original)::BIGINT AS original,
    max(totals.control)::BIGINT AS control,
    count(*) FILTER (WHERE modes.modal)::BIGINT AS modal,
    count(*) FILTER (WHERE modes.typical)::BIGINT AS typical
FROM (
    SELECT
        secret,
        sum(original)::BIGINT AS original,
        sum(control)::BIGINT AS control
    FROM cells
    GROUP BY secret
) AS totals
INNER JOIN modes ON totals.secret = modes.secret;

-- One row per tuple of quasi-identifiers and number of records: the values of the secret (ties) that
-- the release has just so often there, and the people who have one of them, in all and with the
-- usual values of the release (modal) and of the control (typical).
CREATE OR REPLACE VIEW levels AS
SELECT
    word,
    cells.synthetic AS records,
    count(*)::BIGINT AS ties,
    count(*) FILTER (WHERE cells.original > 0)::BIGINT AS original_values,
    sum(cells.original)::BIGINT AS original,
    sum(cells.control)::BIGINT AS control,
    coalesce(sum(cells.control) FILTER (WHERE modes.typical), 0)::BIGINT AS typical,
    coalesce(sum(cells.original) FILTER (WHERE modes.modal), 0)::BIGINT AS usual,
    coalesce(sum(cells.control) FILTER (WHERE modes.modal), 0)::BIGINT AS usual_control,
    coalesce(sum(cells.control) FILTER (WHERE modes.modal AND modes.typical), 0)::BIGINT
        AS usual_typical
FROM cells
INNER JOIN modes ON cells.secret = modes.secret
GROUP BY word, cells.synthetic;

-- One row per tuple of quasi-identifiers in any file: its people and records, the values of the
-- secret among them, how many values are the best guess (ties; 0: the release has no such record,
-- and the guess is its most frequent value), and how many people have one of them.
CREATE OR REPLACE VIEW blocks AS
SELECT
    word,
    sum(original)::BIGINT AS original,
    sum(control)::BIGINT AS control,
    sum(records * ties)::BIGINT AS records,
    max(records) AS largest,
    sum(original_values)::BIGINT AS original_values,
    coalesce(sum(ties) FILTER (WHERE records > 0), 0)::BIGINT AS synthetic_values,
    CASE WHEN max(records) > 0 THEN arg_max(ties, records) ELSE 0 END AS ties,
    CASE WHEN max(records) > 0 THEN arg_max(original, records) ELSE sum(usual) END::BIGINT
        AS correct,
    CASE WHEN max(records) > 0 THEN arg_max(control, records) ELSE sum(usual_control) END
        ::BIGINT AS control_correct,
    CASE WHEN max(records) > 0 THEN arg_max(typical, records) ELSE sum(usual_typical) END
        ::BIGINT AS control_both
FROM levels
GROUP BY word;

-- One row per number of values that are the best guess: what is counted of the blocks with so many.
CREATE OR REPLACE VIEW totals AS
SELECT
    ties,
    sum(original)::BIGINT AS people,
    sum(records)::BIGINT AS records,
    sum(control)::BIGINT AS control,
    count(*) FILTER (WHERE original = 1)::BIGINT AS uniques,
    count(*) FILTER (WHERE records = 1)::BIGINT AS unique_records,
    count(*) FILTER (WHERE original = 1 AND records > 0)::BIGINT AS uniques_present,
    count(*) FILTER (WHERE original = 1 AND records = 1)::BIGINT AS replicated,
    coalesce(sum(original) FILTER (WHERE records > 0), 0)::BIGINT AS present,
    coalesce(sum(original) FILTER (WHERE original_values = 1), 0)::BIGINT AS certain_original,
    coalesce(sum(original) FILTER (WHERE synthetic_values = 1), 0)::BIGINT AS certain,
    coalesce(sum(correct) FILTER (WHERE synthetic_values = 1), 0)::BIGINT AS certain_correct,
    coalesce(
        sum(correct) FILTER (WHERE synthetic_values = 1 AND original_values = 1), 0
    )::BIGINT AS certain_both,
    sum(correct)::BIGINT AS correct,
    sum(control_correct)::BIGINT AS control_correct,
    sum(control_both)::BIGINT AS control_both
FROM blocks
GROUP BY ties;

-- One row per block of people by quasi-identifiers: a counter for each file and value of the secret,
-- packed into words. `words` has for each counter the number of its column of counts, the value, and
-- its lowest bit.
{# packed(words=[[[0, 0, 0], [0, 1, 31]], [[1, 0, 0]]], has_secret=True), packed(words=[[[0, 0, 0]]], has_secret=False) #}
CREATE OR REPLACE VIEW packed AS
SELECT
    {% for counters in words %}
    sum(
        {% for column, value, bit in counters %}
        {{ "+" if loop.index0 }}
        ({{ "CASE WHEN secret = " ~ value ~ " THEN count_" ~ column ~ " ELSE 0 END" if has_secret else "count_" ~ column }} << {{ bit }})
        {% endfor %}
    )::BIGINT AS pack_{{ loop.index }}{{ "," if not loop.last }}
    {% endfor %}
FROM coded;

-- One row per block of fewer quasi-identifiers: the words of packed counters, added.
{# repacked(words=2) #}
CREATE OR REPLACE VIEW repacked AS
SELECT {{ range(1, words + 1) | each("sum(pack_#)::BIGINT AS pack_#", ", ") }}
FROM packed;

-- One row per block: what the release says about it. `original`, `control` and `records` have the word,
-- the lowest bit and the largest count of the counter of each value; `modal` are the most frequent
-- values of the release, `typical` those of the control, `usual` those of both.
{# packed_blocks(original=[[1, 0, 7]], control=[], records=[[1, 3, 7]], modal=[0], typical=[], usual=[]), packed_blocks(original=[[1, 0, 7], [1, 3, 7]], control=[[1, 6, 3], [1, 8, 3]], records=[[1, 10, 1], [2, 0, 1]], modal=[0], typical=[0, 1], usual=[0]) #}
CREATE OR REPLACE VIEW packed_blocks AS
{% set values = range(records | length) %}
{% set controls = range(control | length) %}
SELECT
    {{ values | each("original_#", " + ") }} AS original,
    {{ controls | each("control_#", " + ") or 0 }} AS control,
    {{ values | each("records_#", " + ") }} AS records,
    {{ values | each("(original_# > 0)::BIGINT", " + ") }} AS original_values,
    {{ values | each("(records_# > 0)::BIGINT", " + ") }} AS synthetic_values,
    CASE WHEN largest > 0 THEN {{ values | each("(records_# = largest)::BIGINT", " + ") }} ELSE 0 END AS ties,
    CASE
        WHEN largest > 0 THEN {{ values | each("CASE WHEN records_# = largest THEN original_# ELSE 0 END", " + ") }}
        ELSE {{ modal | each("original_#", " + ") or 0 }}
    END AS correct,
    CASE
        WHEN largest > 0
            THEN {{ controls | each("CASE WHEN records_# = largest THEN control_# ELSE 0 END", " + ") or 0 }}
        ELSE {{ (modal | each("control_#", " + ") if control) or 0 }}
    END AS control_correct,
    CASE
        WHEN largest > 0
            THEN {{ (typical | each("CASE WHEN records_# = largest THEN control_# ELSE 0 END", " + ") if control) or 0 }}
        ELSE {{ (usual | each("control_#", " + ") if control) or 0 }}
    END AS control_both
FROM (
    SELECT *, greatest({{ values | each("records_#", ", ") }}) AS largest
    FROM (
        SELECT
            *
            {% for file, counters in (("original", original), ("control", control), ("records", records)) %}
            {% for word, bit, largest_count in counters %}
            , (pack_{{ word }} >> {{ bit }}) & {{ largest_count }} AS {{ file }}_{{ loop.index0 }}
            {% endfor %}
            {% endfor %}
        FROM packed
    ) AS unpacked
) AS wide;

-- One row per tuple of quasi-identifiers and value of a secret: who has both (people of the original,
-- others of the control, records alike), the block it is in, how many values are guessed there, and
-- whether this is one of them.
CREATE OR REPLACE VIEW verdicts AS
SELECT
    word,
    cells.secret AS secret,
    cells.original AS people,
    cells.control AS others,
    cells.synthetic AS alike,
    blocks.original AS original,
    blocks.control AS control,
    blocks.records AS records,
    blocks.original_values AS original_values,
    blocks.synthetic_values AS synthetic_values,
    blocks.ties AS ties,
    CASE
        WHEN blocks.ties = 0 THEN modes.modal
        ELSE cells.synthetic > 0 AND cells.synthetic = blocks.largest
    END AS best
FROM cells
INNER JOIN modes ON cells.secret = modes.secret
INNER JOIN blocks USING (word);

-- One row per group of people and number of values that are the best guess: what is counted of its
-- people.
CREATE OR REPLACE VIEW groups AS
SELECT
    coded.member AS member,
    verdicts.ties AS ties,
    sum(coded.original)::BIGINT AS people,
    sum(coded.control)::BIGINT AS control,
    coalesce(sum(coded.original) FILTER (WHERE verdicts.original = 1), 0)::BIGINT AS uniques,
    coalesce(sum(coded.original) FILTER (
        WHERE verdicts.original = 1 AND verdicts.records > 0
    ), 0)::BIGINT AS uniques_present,
    coalesce(sum(coded.original) FILTER (
        WHERE verdicts.original = 1 AND verdicts.records = 1
    ), 0)::BIGINT AS replicated,
    coalesce(sum(coded.original) FILTER (WHERE verdicts.records > 0), 0)::BIGINT AS present,
    coalesce(sum(coded.original) FILTER (WHERE verdicts.original_values = 1), 0)::BIGINT
        AS certain_original,
    coalesce(sum(coded.original) FILTER (WHERE verdicts.synthetic_values = 1), 0)::BIGINT
        AS certain,
    coalesce(sum(coded.original) FILTER (
        WHERE verdicts.synthetic_values = 1 AND verdicts.best
    ), 0)::BIGINT AS certain_correct,
    coalesce(sum(coded.original) FILTER (
        WHERE verdicts.synthetic_values = 1 AND verdicts.original_values = 1 AND verdicts.best
    ), 0)::BIGINT AS certain_both,
    coalesce(sum(coded.original) FILTER (WHERE verdicts.best), 0)::BIGINT AS correct,
    coalesce(sum(coded.control) FILTER (WHERE verdicts.best), 0)::BIGINT AS control_correct
FROM coded
INNER JOIN verdicts USING (word, secret)
WHERE coded.original + coded.control > 0
GROUP BY coded.member, verdicts.ties;

-- One row per group of people: those of its people with its most frequent value of the secret.
CREATE OR REPLACE VIEW group_priors AS
SELECT
    member,
    max(original)::BIGINT AS original,
    max(control)::BIGINT AS control
FROM (
    SELECT
        member,
        secret,
        sum(original)::BIGINT AS original,
        sum(control)::BIGINT AS control
    FROM coded
    GROUP BY member, secret
) AS totals
GROUP BY member;

-- One row per person of the original: what a release says of them. `words` are those of the person,
-- `secrets` the numbers of the secrets; where no value of a secret is in the block, the most frequent
-- values of the release are guessed.
{# spoken(words=[1, 2], secrets=[1, 2]), spoken(words=[1], secrets=[]) #}
CREATE OR REPLACE VIEW spoken AS
{% set first = secrets[0] if secrets else 0 %}
SELECT
    placed.record,
    verdicts_{{ first }}.original AS block_size,
    verdicts_{{ first }}.records AS records_alike,
    {% for j in secrets %}
    verdicts_{{ j }}.synthetic_values = 1 AS certain_{{ j }},
    verdicts_{{ j }}.synthetic_values = 1 AND verdicts_{{ j }}.best AS disclosed_{{ j }},
    CASE
        WHEN verdicts_{{ j }}.best
            THEN 1::DOUBLE / (CASE verdicts_{{ j }}.ties WHEN 0 THEN modal_{{ j }} ELSE verdicts_{{ j }}.ties END)
        ELSE 0::DOUBLE
    END AS success_{{ j }},
    {% endfor %}
    verdicts_{{ first }}.original = 1 AND verdicts_{{ first }}.records = 1 AS replicated_unique
FROM placed
{% for j in secrets or [0] %}
INNER JOIN verdicts_{{ j }}
    ON {% for i in words %}{{ "AND " if loop.index0 }}placed.word_{{ i }} = verdicts_{{ j }}.word_{{ i }} {% endfor %}{{ "AND placed.secret_" ~ j ~ " = verdicts_" ~ j ~ ".secret" if j }}
{% endfor %};

-- One row per tuple of quasi-identifiers, value of one secret and group: the people of the original and
-- of the control.
CREATE OR REPLACE VIEW secret_coded AS
SELECT
    word,
    secret AS secret,
    member,
    sum(original)::BIGINT AS original,
    sum(control)::BIGINT AS control
FROM coded
GROUP BY ALL
HAVING sum(original) + sum(control) > 0;

-- One row: the share of the most frequent value of a secret in the release, and the value that is most
-- frequent among the people of the original, of several the first.
CREATE OR REPLACE VIEW commonest AS
SELECT
    max(records) / sum(records) AS share,
    min(secret) FILTER (WHERE original = most) AS secret
FROM (
    SELECT
        cells.secret AS secret,
        sum(cells.synthetic)::BIGINT AS records,
        sum(cells.original)::BIGINT AS original,
        max(sum(cells.original)) OVER ()::BIGINT AS most
    FROM cells
    GROUP BY cells.secret
) AS totals;

-- One row per share of the best guess among the records alike (chance) and number of values that are
-- the best guess: how many people of the original are guessed so, those who have one of the values,
-- and those who have the most frequent value of all people.
CREATE OR REPLACE VIEW claims AS
SELECT
    chance,
    ties,
    sum(people)::BIGINT AS people,
    sum(correct)::BIGINT AS correct,
    sum(usual)::BIGINT AS usual
FROM (
    SELECT
        blocks.ties AS ties,
        blocks.original AS people,
        blocks.correct AS correct,
        coalesce(usual.original, 0) AS usual,
        CASE
            WHEN blocks.ties = 0 THEN (SELECT share FROM commonest)
            ELSE blocks.largest / blocks.records
        END AS chance
    FROM blocks
    LEFT JOIN (
        SELECT
            word,
            cells.original AS original
        FROM cells
        WHERE cells.secret = (SELECT secret FROM commonest)
    ) AS usual USING (word)
    WHERE blocks.original > 0
) AS guesses
GROUP BY chance, ties;

-- The ten blocks in which the release gives away the secret of most people: their people and the
-- records, all of one value, and how many people have it.
CREATE OR REPLACE VIEW worst AS
SELECT
    correct,
    original AS people,
    records,
    control_correct,
    control
FROM blocks
WHERE synthetic_values = 1 AND correct > 0
ORDER BY correct DESC, people, records DESC, control_correct DESC, control DESC
LIMIT 10;

-- One row per number of people of the original and of the control: the tuples of quasi-identifiers
-- that one record of the release has, and so many people. Each is a predicate that singles out a
-- record; cells have one secret for all.
CREATE OR REPLACE VIEW predicates AS
SELECT
    original,
    control,
    count(*)::BIGINT AS predicates
FROM cells
WHERE cells.synthetic = 1
GROUP BY original, control;

-- One row: the records of the release at the ends of a quasi-identifier of numbers, and the people
-- there or beyond; cells are those of this quasi-identifier, code is its word.
CREATE OR REPLACE VIEW extremes AS
SELECT
    coalesce(sum(cells.synthetic) FILTER (WHERE cells.code <= ends.least), 0)::BIGINT
        AS least_records,
    coalesce(sum(cells.original) FILTER (WHERE cells.code <= ends.least), 0)::BIGINT AS below,
    coalesce(sum(cells.control) FILTER (WHERE cells.code <= ends.least), 0)::BIGINT
        AS below_control,
    coalesce(sum(cells.synthetic) FILTER (WHERE cells.code >= ends.greatest), 0)::BIGINT
        AS greatest_records,
    coalesce(sum(cells.original) FILTER (WHERE cells.code >= ends.greatest), 0)::BIGINT AS above,
    coalesce(sum(cells.control) FILTER (WHERE cells.code >= ends.greatest), 0)::BIGINT
        AS above_control
FROM cells
CROSS JOIN (
    SELECT
        min(cells.code) AS least,
        max(cells.code) AS greatest
    FROM cells
    WHERE cells.synthetic > 0 AND cells.code <> missing_code
) AS ends
WHERE cells.code <> missing_code;

-- One row per different tuple of one file, in the order of the words: the number of records in it and
-- in those before it. Cells have one row per tuple; people is the count of the file.
CREATE OR REPLACE VIEW numbered AS
SELECT
    word,
    sum(cells.people) OVER (ORDER BY word ROWS UNBOUNDED PRECEDING)::BIGINT AS upto
FROM cells
WHERE cells.people > 0;

-- One row per attempt at a predicate: the record that is drawn, by its number from 0, and the columns,
-- by their numbers from 0. The seed decides.
CREATE OR REPLACE VIEW attempts AS
SELECT
    attempt,
    (md5_number_lower(concat(seed, '|record|', attempt)) % records)::BIGINT AS record,
    list(field ORDER BY field) AS fields
FROM (
    SELECT
        attempt,
        field,
        row_number() OVER (
            PARTITION BY attempt
            ORDER BY md5(concat(seed, '|field|', attempt, '|', field)), field
        ) AS lot
    FROM range(attempt_count) AS each_attempt (attempt)
    CROSS JOIN range(field_count) AS each_field (field)
) AS lots
WHERE lot <= fields_of_one
GROUP BY attempt;

-- One row per attempt: its columns, and the words of the record that is drawn.
CREATE OR REPLACE VIEW drawn_records AS
SELECT
    attempts.attempt AS attempt,
    attempts.fields AS fields,
    word
FROM attempts
ASOF JOIN numbered ON attempts.record < numbered.upto;

-- One row: the code of the lower median of a column of numbers in the release; cells are those of this
-- column, code is its word. NULL if the release has no value there.
CREATE OR REPLACE VIEW middles AS
SELECT min(position) AS middle
FROM (
    SELECT
        cells.code AS position,
        sum(cells.synthetic) OVER (ORDER BY cells.code) AS upto,
        sum(cells.synthetic) OVER () AS records
    FROM cells
    WHERE cells.synthetic > 0 AND cells.code <> missing_code
) AS totals
WHERE 2 * upto >= records;

-- One row per different predicate over one set of columns, and an attempt that made it. The words are
-- those of the columns without an order, whose values it names. Of columns with an order it names a
-- range of codes: missing alone; above the median this value and those above; otherwise this value
-- and those below.
CREATE OR REPLACE VIEW conditions AS
SELECT
    word,
    CASE WHEN place = missing_code OR place > middle THEN place ELSE 0 END::BIGINT AS low,
    CASE WHEN place = missing_code OR place <= middle THEN place ELSE greatest_code END::BIGINT
        AS high,
    min(attempt) AS attempt
FROM drawn_values
GROUP BY word, low, high;

-- One row per predicate: the people and records for which it is true. A row of candidates has the
-- words and the places of a tuple, and its counts; candidates may be some of all tuples.
CREATE OR REPLACE VIEW matches AS
SELECT
    conditions.attempt AS attempt,
    sum(candidates.original)::BIGINT AS original,
    sum(candidates.control)::BIGINT AS control,
    sum(candidates.synthetic)::BIGINT AS records
FROM candidates
INNER JOIN conditions USING (word)
WHERE each(candidates.place BETWEEN conditions.low AND conditions.high)
GROUP BY conditions.attempt;

-- One row per predicate that is not yet true for two records: those that some of the tuples show to be
-- true for more are left out.
CREATE OR REPLACE VIEW rare_conditions AS
SELECT conditions.*
FROM conditions
ANTI JOIN (
    SELECT attempt
    FROM matches
    WHERE records > 1
) AS frequent USING (attempt);

-- One row: the people whose two halves an adversary links by equality, in 2^60 parts of a person. She
-- draws a record of the release that has the first half, and one that has the second; the link is
-- right if they are one record. Halves are the cells with the keys of both halves.
CREATE OR REPLACE VIEW links AS
SELECT
    coalesce(sum(
        (halves.original::HUGEINT * halves.synthetic * 1152921504606846976)
        // (firsts.records::HUGEINT * seconds.records)
    ), 0)::HUGEINT AS original,
    coalesce(sum(
        (halves.control::HUGEINT * halves.synthetic * 1152921504606846976)
        // (firsts.records::HUGEINT * seconds.records)
    ), 0)::HUGEINT AS control
FROM halves
INNER JOIN (
    SELECT
        first_key,
        sum(halves.synthetic)::BIGINT AS records
    FROM halves
    GROUP BY first_key
) AS firsts USING (first_key)
INNER JOIN (
    SELECT
        second_key,
        sum(halves.synthetic)::BIGINT AS records
    FROM halves
    GROUP BY second_key
) AS seconds USING (second_key)
WHERE halves.synthetic > 0;

-- The numbers from 0 of the people of a file in an order that the seed decides: the first are drawn.
CREATE OR REPLACE VIEW people_lots AS
SELECT person
FROM range(people_count) AS everybody (person)
ORDER BY md5(concat(seed, '|person|', person)), person;

-- One row per drawn person: the words of the person.
CREATE OR REPLACE VIEW drawn_people AS
SELECT word
FROM people_lots
ASOF JOIN numbered ON people_lots.person < numbered.upto;

-- One row per half of a drawn person that so many records (neighbours) or more have: these are the
-- nearest ones, and no others need be compared.
CREATE OR REPLACE VIEW alike AS
SELECT
    key AS target,
    key,
    halves_of_records.records AS records,
    TRUE AS tied
FROM all_targets
INNER JOIN halves_of_records USING (key)
WHERE halves_of_records.records >= neighbours;

-- The halves of drawn people that are compared with all halves of records.
CREATE OR REPLACE VIEW distant AS
SELECT all_targets.*
FROM all_targets
ANTI JOIN alike ON all_targets.key = alike.target;

-- One row per half of a drawn person and half of a record that are compared: their distance, in parts
-- of each column, of which it has at most scale_unit. A key has the codes of a half.
CREATE OR REPLACE VIEW half_pairs AS
SELECT
    targets.key AS target,
    halves_of_records.key AS key,
    halves_of_records.records AS records,
    added([least(abs(targets.place - halves_of_records.place), scale_unit)]) AS distance
FROM targets
CROSS JOIN halves_of_records;

-- One row per half of a drawn person: a distance within which so many records (neighbours) are, by
-- those of its pairs; NULL if these are fewer.
CREATE OR REPLACE VIEW reaches AS
SELECT
    target,
    CASE WHEN count(*) >= neighbours THEN list_max(min(distance, neighbours)) END AS reach
FROM half_pairs
GROUP BY target;

-- One row per half of a drawn person and half of a record among the nearest ones: how many records
-- have it, and whether they are at the largest distance, where more records may be than are wanted.
CREATE OR REPLACE VIEW nearest_halves AS
SELECT
    target,
    key,
    records,
    tied
FROM (
    SELECT
        target,
        key,
        records,
        tied
    FROM alike
    UNION ALL
    SELECT
        target,
        key,
        records,
        distance = radius AS tied
    FROM (
        SELECT
            target,
            key,
            records,
            distance,
            min(distance) FILTER (WHERE upto >= neighbours) OVER (PARTITION BY target) AS radius
        FROM (
            SELECT
                half_pairs.target AS target,
                half_pairs.key AS key,
                half_pairs.records AS records,
                half_pairs.distance AS distance,
                sum(half_pairs.records) OVER (
                    PARTITION BY half_pairs.target
                    ORDER BY half_pairs.distance
                ) AS upto
            FROM half_pairs
            INNER JOIN reaches ON half_pairs.target = reaches.target
            WHERE half_pairs.distance <= coalesce(reaches.reach, half_pairs.distance)
        ) AS within_reach
    ) AS all_radii
    WHERE distance <= radius
) AS nearest_of_all;

-- One row per half of a drawn person: the records that are nearest for sure, and those at the largest
-- distance.
CREATE OR REPLACE VIEW half_sizes AS
SELECT
    target,
    coalesce(sum(records) FILTER (WHERE NOT tied), 0)::BIGINT AS sure,
    coalesce(sum(records) FILTER (WHERE tied), 0)::BIGINT AS ties
FROM nearest_halves
GROUP BY target;

-- One row per different drawn people whose halves have nearest records in common: how many records,
-- by whether they are nearest to the first and to the second half for sure or tied.
CREATE OR REPLACE VIEW common_records AS
SELECT
    people_drawn.first_key AS first_key,
    people_drawn.second_key AS second_key,
    sum(halves.synthetic) FILTER (WHERE NOT firsts.tied AND NOT seconds.tied) AS sure,
    sum(halves.synthetic) FILTER (WHERE firsts.tied AND NOT seconds.tied) AS first_tied,
    sum(halves.synthetic) FILTER (WHERE NOT firsts.tied AND seconds.tied) AS second_tied,
    sum(halves.synthetic) FILTER (WHERE firsts.tied AND seconds.tied) AS both_tied
FROM people_drawn
INNER JOIN nearest_first AS firsts ON people_drawn.first_key = firsts.target
INNER JOIN nearest_second AS seconds ON people_drawn.second_key = seconds.target
INNER JOIN halves ON firsts.key = halves.first_key AND seconds.key = halves.second_key
WHERE halves.synthetic > 0
GROUP BY people_drawn.first_key, people_drawn.second_key;

-- One row per kind of drawn people, who have so many nearest records of each half, and so many in
-- common: how many people of the original and of the control there are.
CREATE OR REPLACE VIEW link_kinds AS
SELECT
    first_sizes.sure AS first_sure,
    first_sizes.ties AS first_ties,
    second_sizes.sure AS second_sure,
    second_sizes.ties AS second_ties,
    coalesce(common_records.sure, 0)::BIGINT AS both_sure,
    coalesce(common_records.first_tied, 0)::BIGINT AS first_tied,
    coalesce(common_records.second_tied, 0)::BIGINT AS second_tied,
    coalesce(common_records.both_tied, 0)::BIGINT AS both_tied,
    sum(people_drawn.original)::BIGINT AS original,
    sum(people_drawn.control)::BIGINT AS control
FROM people_drawn
INNER JOIN first_sizes ON people_drawn.first_key = first_sizes.target
INNER JOIN second_sizes ON people_drawn.second_key = second_sizes.target
LEFT JOIN common_records
    ON
        people_drawn.first_key = common_records.first_key
        AND people_drawn.second_key = common_records.second_key
GROUP BY ALL;

-- One row: what all values of a column of numbers have in common: the least one, how far they reach,
-- and the least power of ten that makes them all whole; NULL if none up to a million does.
CREATE OR REPLACE VIEW ends_of_numbers AS
SELECT
    min(value) AS least,
    max(value) - min(value) AS span,
    CASE
        WHEN max(abs(value)) > 1000000000 THEN CASE WHEN bool_and(value = round(value)) THEN 1 END
        WHEN bool_and(value = round(value)) THEN 1
        WHEN bool_and(value = round(value * 100) / 100) THEN 100
        WHEN bool_and(value = round(value * 1000000) / 1000000) THEN 1000000
    END::BIGINT AS factor
FROM values_of_numbers;

-- One row per value of a column of numbers: its place from 0 to scale_unit between the least and the
-- greatest one; so many parts (part_length) for each unit of whole numbers, where they fit. Missing
-- is farther away than that, and so is every value of a column that has no such scale.
CREATE OR REPLACE VIEW scaled AS
SELECT
    code,
    CASE
        WHEN value IS NULL THEN -256 * scale_unit
        WHEN ends.span > 0 AND isfinite(ends.span) THEN CASE
            WHEN part_length > 0
            THEN round((value - ends.least) * ends.factor)::HUGEINT * part_length
            ELSE round((value - ends.least) / ends.span * scale_unit)
        END
        ELSE code * 2 * scale_unit
    END::BIGINT AS place
FROM values_of_numbers
CROSS JOIN ends_of_numbers AS ends;

-- The records of a release in an order that the seed decides: the first ones are drawn.
CREATE OR REPLACE VIEW draws AS
SELECT
    place,
    row_number() OVER (ORDER BY lot) AS draw
FROM (
    SELECT
        place,
        md5(concat(seed, '|', [place]::VARCHAR, '|', copy)) AS lot
    FROM (
        SELECT
            place,
            unnest(range(points.synthetic)) AS copy
        FROM points
    ) AS records
) AS lots
ORDER BY lot;

-- One row per drawn record and people who are alike: their distance, in parts of each column, of which
-- it has at most scale_unit.
CREATE OR REPLACE VIEW drawn_pairs AS
SELECT
    drawn.draw AS draw,
    points.original AS original,
    points.control AS control,
    added([least(abs(drawn.place - points.place), scale_unit)]) AS distance
FROM drawn
CROSS JOIN points
WHERE points.original + points.control > 0;

-- One row per drawn record: the distances of the nearest people of the original and of the control,
-- in parts of each column; NULL where there is no control.
CREATE OR REPLACE VIEW nearest AS
SELECT
    draw,
    min(distance) FILTER (WHERE original > 0) AS original,
    min(distance) FILTER (WHERE control > 0) AS control,
    least(
        min(distance) FILTER (WHERE original > 0), min(distance) FILTER (WHERE control > 0)
    ) AS anybody
FROM drawn_pairs
GROUP BY draw;

-- One row per drawn record: the people of the original and of the control at the least distance of
-- anybody; those of the original at the least one of the original, and the next larger distance.
CREATE OR REPLACE VIEW neighbours AS
SELECT
    pairs.draw AS draw,
    coalesce(sum(pairs.original) FILTER (WHERE pairs.distance = nearest.anybody), 0)::BIGINT
        AS original,
    coalesce(sum(pairs.control) FILTER (WHERE pairs.distance = nearest.anybody), 0)::BIGINT
        AS control,
    sum(pairs.original) FILTER (WHERE pairs.distance = nearest.original)::BIGINT AS closest,
    min(pairs.distance) FILTER (
        WHERE pairs.original > 0 AND pairs.distance > nearest.original
    ) AS next_distance
FROM drawn_pairs AS pairs
INNER JOIN nearest ON pairs.draw = nearest.draw
GROUP BY pairs.draw;

-- One row per number of people of the original and of the control at the least distance: the drawn
-- records with so many.
CREATE OR REPLACE VIEW sides AS
SELECT
    original,
    control,
    count(*)::BIGINT AS records
FROM neighbours
GROUP BY original, control;

-- One row: the drawn records, those that equal a person of the original, the medians of the least
-- distances, and that of the ratio of the least to the second distance (1: two people are nearest).
CREATE OR REPLACE VIEW distances AS
SELECT
    count(*)::BIGINT AS records,
    count(*) FILTER (WHERE nearest.original = 0)::BIGINT AS equal_records,
    quantile_disc(nearest.original, 0.5)::BIGINT AS original,
    quantile_disc(nearest.control, 0.5)::BIGINT AS control,
    quantile_disc(CASE
        WHEN neighbours.closest > 1 THEN 1
        ELSE nearest.original / neighbours.next_distance
    END, 0.5)::DOUBLE AS ratio
FROM nearest
INNER JOIN neighbours ON nearest.draw = neighbours.draw;
