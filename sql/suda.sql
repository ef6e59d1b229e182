-- Minimal sample uniques: the subsets that single out a record, the smallest of them, and scores.
-- Quasi-identifiers have positions, most distinguishing first, and a subset is a number with a bit
-- for each. The walk goes through chunks of records. A block is all records that agree on a subset,
-- which it took; it is known by a number that holds the subset and the attributes that are open:
-- those after it that vary in the block. Records that agree on all that is open are one row without
-- a record (-1): nothing that may still be taken tells them apart. Of people with several records the
-- number of a record is that of its person, so that what singles out is had by one person alone.
-- Of many quasi-identifiers, families of subsets that share all attributes but one are searched, size
-- after size; people are the records then (`sweep/families.sql`).

-- One row per person and different record of hers: the number of the person, and how many of her
-- records are like it. People are those of whom one record is known.
CREATE OR REPLACE VIEW individuals AS
SELECT
    dense_rank() OVER (ORDER BY person, alone) AS record,
    person,
    alone,
    alike,
    qid
FROM microdata;

-- One row per record: the code of its first quasi-identifier by position; those of the others, each
-- at its bits of a number; a bit for each position whose value is missing. `order` has the number of
-- the quasi-identifier at each position.
{# numbered_records(order=[2, 1], shifts=[3, 0], wide=False, missing=True), numbered_records(order=[1], shifts=[0], wide=True, missing=False) #}
CREATE OR REPLACE VIEW numbered_records AS
SELECT
    everybody.record,
    of_{{ order[0] }}.code::INTEGER AS entry,
    {% for i in order[1:] %}
    (of_{{ i }}.code::{{ "UHUGEINT" if wide else "UBIGINT" }} << {{ shifts[loop.index] }}) |
    {% endfor %}
    0::{{ "UHUGEINT" if wide else "UBIGINT" }} AS rest,
    {% for i in order if missing %}
    CASE WHEN everybody.qid_{{ i }} IS NULL THEN {{ 2 ** loop.index0 }} ELSE 0 END +
    {% endfor %}
    0::BIGINT AS missing
FROM everybody
{% for i in order %}
INNER JOIN of_{{ i }} ON everybody.qid_{{ i }} IS NOT DISTINCT FROM of_{{ i }}.value
{% endfor %};

-- One row per different record, those that agree on the first quasi-identifier side by side. A row
-- of stars without a record (`stars`: their codes by position) is in the block of every record that
-- is * in a whole subset, so that nobody is alone there: such a record may be anybody's.
{# first_coded(stars=[1, 2], shifts=[4, 0], wide=False), first_coded(stars=[], shifts=[0], wide=True) #}
CREATE OR REPLACE VIEW first_coded AS
SELECT
    entry,
    rest,
    CASE WHEN min(record) = max(record) THEN max(record) ELSE -1 END AS record
FROM
    {% if stars %}
    (
        SELECT
            entry,
            rest,
            record
        FROM numbered
        UNION ALL
        SELECT
            {{ stars[0] }}::INTEGER,
            {% for star in stars[1:] %}
            ({{ star }}::{{ "UHUGEINT" if wide else "UBIGINT" }} << {{ shifts[loop.index] }}) |
            {% endfor %}
            0::{{ "UHUGEINT" if wide else "UBIGINT" }},
            -1
    ) AS with_stars
    {% else %}
    numbered
    {% endif %}
GROUP BY
    entry,
    rest
ORDER BY entry;

-- One row per different record when the first quasi-identifier is left out: the next one takes its
-- place, and records that agree on all others are one row.
CREATE OR REPLACE VIEW next_coded AS
SELECT
    (rest >> asked.shift)::INTEGER AS entry,
    rest & asked.later AS rest,
    CASE WHEN min(record) = max(record) THEN max(record) ELSE -1 END AS record
FROM coded CROSS JOIN asked
GROUP BY ALL
ORDER BY entry;

-- One row per chunk: a range of values of the first quasi-identifier with about the wanted rows.
CREATE OR REPLACE VIEW ranges AS
SELECT
    min(entry) AS least,
    max(entry) AS greatest,
    sum("rows")::BIGINT AS "rows"
FROM (
    SELECT
        entry,
        "rows",
        (sum("rows") OVER (ORDER BY entry) - "rows") // wanted_rows AS chunk
    FROM (
        SELECT
            entry,
            count(*) AS "rows"
        FROM coded
        GROUP BY entry
    ) AS counted
) AS running
GROUP BY chunk
ORDER BY least;

-- One row: all records, those alone in their block by all quasi-identifiers, those in blocks of two,
-- and the largest number of a record. People count by the smallest block of their records.
CREATE OR REPLACE VIEW totals AS
SELECT
    count(*) AS individuals,
    count(*) FILTER (WHERE smallest = 1) AS uniques,
    count(*) FILTER (WHERE smallest = 2) AS paired,
    coalesce(max(record), 0)::BIGINT AS last
FROM (
    SELECT
        record,
        min(size) AS smallest
    FROM (
        SELECT
            record,
            count(*) OVER (PARTITION BY entry, rest) AS size
        FROM numbered
    ) AS sized
    GROUP BY record
) AS counted;

-- One row per block of the first quasi-identifier in a chunk: its rows (1 where all are of one
-- person), a record of it (-1 where it has none), and what is open.
CREATE OR REPLACE VIEW entered_blocks AS
SELECT
    entry AS block,
    getvariable('bit') AS taken,
    CASE WHEN min(record) = max(record) THEN 1 ELSE count(*) END AS size,
    max(record) AS record,
    varying(xor(bit_or(rest), bit_and(rest))) AS "open"
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
GROUP BY entry;

-- One row per part of a block in which this attribute varies, by the attribute's value.
CREATE OR REPLACE VIEW parts AS
SELECT
    block,
    code,
    ((block >> getvariable('n')) & getvariable('every'))::BIGINT | getvariable('bit') AS taken,
    size,
    record,
    "open"
FROM (
    SELECT
        block,
        rest & getvariable('field') AS code,
        CASE WHEN min(record) = max(record) THEN 1 ELSE count(*) END AS size,
        max(record) AS record,
        varying(xor(bit_or(rest), bit_and(rest))) & getvariable('after') AS "open"
    FROM live
    WHERE turn = getvariable('bit')
    GROUP BY
        block,
        code
) AS grouped;

-- One row per record that is alone in its block, with the subset that the block took.
CREATE OR REPLACE VIEW alone AS
SELECT
    record,
    taken
FROM blocks
WHERE size = 1 AND record >= 0;

-- One row per block that may single out a record by taking more: its new number, and its turn, the
-- first attribute that is open. A block ends where every record is alone as soon as anything open is
-- taken: blocks of two rows, and those in which one attribute is open.
CREATE OR REPLACE VIEW children AS
SELECT
    *,
    (row_number() OVER () + getvariable('blocks')) * getvariable('states')
    + (taken << getvariable('n')) + "open" AS child,
    ("open" & -"open")
    | CASE WHEN size = 2 OR bit_count("open") = 1 THEN getvariable('ending') ELSE 0 END AS turn
FROM blocks
WHERE size > 1 AND record >= 0 AND bit_count(taken) < getvariable('most');

-- One row per record of a chunk in a block of the first quasi-identifier that goes on.
CREATE OR REPLACE VIEW entered AS
SELECT
    children.child AS block,
    coded.rest,
    coded.record,
    children.turn
FROM coded
INNER JOIN children ON coded.entry = children.block
WHERE coded.entry BETWEEN getvariable('least') AND getvariable('greatest');

-- One row per record of a block that goes on: parts that took this attribute; blocks that dropped
-- it, in which records may now agree; and blocks whose turn comes later.
CREATE OR REPLACE VIEW onward AS
SELECT
    block,
    rest,
    record,
    turn
FROM (
    SELECT
        children.child AS block,
        live.rest & getvariable('later') AS rest,
        live.record,
        children.turn
    FROM live
    INNER JOIN children
        ON live.block = children.block AND (live.rest & getvariable('field')) = children.code
    WHERE live.turn = getvariable('bit')
    UNION ALL
    SELECT
        block,
        rest,
        record,
        ("open" & -"open")
        | CASE WHEN bit_count("open") = 1 THEN getvariable('ending') ELSE 0 END AS turn
    FROM (
        SELECT
            block,
            rest,
            record,
            (block & getvariable('every'))::BIGINT AS "open"
        FROM (
            SELECT
                block & ~getvariable('bit') AS block,
                rest & getvariable('later') AS rest,
                CASE WHEN min(record) = max(record) THEN max(record) ELSE -1 END AS record
            FROM live
            WHERE turn = getvariable('bit')
            GROUP BY ALL
        ) AS dropped
    ) AS rest_of_block
    UNION ALL
    SELECT
        block,
        rest,
        record,
        turn
    FROM live
    WHERE turn > getvariable('bit') AND turn < getvariable('ending')
) AS going_on;

-- One row per record of a block that ends, and attribute that is open in it: the subset with it.
CREATE OR REPLACE VIEW ended AS
SELECT
    record,
    taken | unnest(list_filter(getvariable('bits'), lambda b: ("open" & b) <> 0)) AS taken
FROM (
    SELECT
        record,
        ((block >> getvariable('n')) & getvariable('every'))::BIGINT AS taken,
        (block & getvariable('every'))::BIGINT AS "open"
    FROM live
    WHERE turn >= getvariable('ending') AND record >= 0
) AS ending;

-- One row per person and subset that was noted, by however many of her records.
CREATE OR REPLACE VIEW noted AS
SELECT DISTINCT
    record,
    taken
FROM candidates;

-- One row: the rows in blocks in which this attribute is the first that is open, and all that go on.
CREATE OR REPLACE VIEW turns AS
SELECT
    count(*) FILTER (WHERE turn = getvariable('bit')) AS here,
    count(*) FILTER (WHERE turn < getvariable('ending')) AS going_on
FROM live;

-- One row per minimal sample unique of a range of records: no other subset that singles out the
-- record is a part of it.
CREATE OR REPLACE VIEW minimal AS
SELECT
    record,
    taken
FROM (
    SELECT
        record,
        subsets,
        unnest(subsets) AS taken
    FROM (
        SELECT
            record,
            list(taken) AS subsets
        FROM candidates
        WHERE record BETWEEN getvariable('least') AND getvariable('greatest')
        GROUP BY record
    ) AS listed
) AS compared
WHERE len(list_filter(subsets, lambda s: (s & taken) = s)) = 1;

-- One row per minimal sample unique without a missing value.
CREATE OR REPLACE VIEW present AS
SELECT
    minimal.record,
    minimal.taken
FROM minimal
INNER JOIN numbered ON minimal.record = numbered.record
WHERE
    (minimal.taken & numbered.missing) = 0
    AND numbered.record BETWEEN getvariable('least') AND getvariable('greatest');

-- One row per record with a minimal sample unique: how many it has, its score, the size of the
-- smallest.
CREATE OR REPLACE VIEW scored AS
SELECT
    record,
    count(*) AS msus,
    sum(list_extract(getvariable('scores'), bit_count(taken)))::BIGINT AS score,
    min(bit_count(taken))::BIGINT AS smallest
FROM minimal
GROUP BY record;

-- One row per subset: how many records have it as a minimal sample unique.
CREATE OR REPLACE VIEW counted_sets AS
SELECT
    taken,
    count(*) AS msus
FROM minimal
GROUP BY taken;

-- One row per minimal sample unique, with the codes of its record and its score.
CREATE OR REPLACE VIEW placed AS
SELECT
    minimal.record,
    minimal.taken,
    numbered.entry,
    numbered.rest,
    list_extract(getvariable('scores'), bit_count(minimal.taken)) AS score
FROM minimal
INNER JOIN numbered ON minimal.record = numbered.record
WHERE numbered.record BETWEEN getvariable('least') AND getvariable('greatest');

-- One row per value of the first quasi-identifier: the minimal sample uniques that hold it.
CREATE OR REPLACE VIEW entry_values AS
SELECT
    getvariable('bit') AS attribute,
    entry::BIGINT AS code,
    count(DISTINCT record) AS records,
    count(*) AS msus,
    sum(score)::HUGEINT AS score
FROM placed
WHERE (taken & getvariable('bit')) <> 0
GROUP BY entry;

-- One row per value of another quasi-identifier: the minimal sample uniques that hold it.
CREATE OR REPLACE VIEW rest_values AS
SELECT
    getvariable('bit') AS attribute,
    ((rest & getvariable('field')) >> getvariable('shift'))::BIGINT AS code,
    count(DISTINCT record) AS records,
    count(*) AS msus,
    sum(score)::HUGEINT AS score
FROM placed
WHERE (taken & getvariable('bit')) <> 0
GROUP BY code;

-- One row per subset, over all ranges of records.
CREATE OR REPLACE VIEW sets AS
SELECT
    taken,
    sum(msus)::BIGINT AS msus
FROM set_counts
GROUP BY taken
ORDER BY taken;

-- One row per size of the smallest minimal sample unique: the records.
CREATE OR REPLACE VIEW smallest_sizes AS
SELECT
    smallest,
    count(*) AS records
FROM scores
GROUP BY smallest
ORDER BY smallest;

-- One row: the sum of score^-q over the records with a score, in parts of 2^-80, which add up to the
-- same in any order.
CREATE OR REPLACE VIEW powers AS
SELECT
    coalesce(
        sum(round(pow(score::DOUBLE, -asked.exponent) * 1208925819614629174706176)::HUGEINT), 0
    ) AS powers
FROM scores
CROSS JOIN asked;

-- One row per record with a score: its DIS-SUDA.
CREATE OR REPLACE VIEW chance_of AS
SELECT
    record,
    msus,
    score,
    smallest,
    1 / (1 + asked.odds / (pow(score::DOUBLE, asked.exponent) * asked.powers)) AS chance
FROM scores
CROSS JOIN asked;

-- One row per percent of DIS-SUDA, rounded half to even, of records with a score: how many there are,
-- the sum of their DIS-SUDA in parts of 2^-60, and the highest.
CREATE OR REPLACE VIEW chances AS
SELECT
    round_even(100 * chance, 0)::INTEGER AS bin,
    count(*) AS records,
    sum(round(chance * 1152921504606846976)::HUGEINT) AS chances,
    max(chance) AS highest
FROM chance_of
GROUP BY bin
ORDER BY bin;

-- One row per record, in the order of the input, with its position from 0: its minimal sample uniques
-- and its scores, or those of its person.
{# scores_of_records(key=True, text=True, person=False, undefined=False), scores_of_records(key=False, text=False, person=True, undefined=True) #}
CREATE OR REPLACE VIEW scores_of_records AS
SELECT
    everybody.record - 1 AS record,
    {% if key %}
    everybody.key{{ "::VARCHAR" if text }} AS key,
    {% endif %}
    coalesce(chance_of.msus, 0) AS msus,
    coalesce(chance_of.score, 0) AS score,
    chance_of.smallest,
    {{ "NULL::DOUBLE" if undefined else "coalesce(chance_of.chance, 0::DOUBLE)" }} AS dis_suda
{% if person %}
FROM (SELECT *, row_number() OVER (ORDER BY record) AS position FROM everybody) AS everybody
INNER JOIN records ON everybody.position = records.record
INNER JOIN (SELECT DISTINCT record, person, alone FROM individuals) AS owners
    ON records.person IS NOT DISTINCT FROM owners.person
    AND CASE WHEN records.person IS NULL THEN records.record END IS NOT DISTINCT FROM owners.alone
LEFT JOIN chance_of ON owners.record = chance_of.record
{% else %}
FROM everybody
LEFT JOIN chance_of ON everybody.record = chance_of.record
{% endif %}
ORDER BY everybody.record;

-- One row per value of a quasi-identifier, over all ranges of records.
CREATE OR REPLACE VIEW value_sums AS
SELECT
    dictionary.value::VARCHAR AS value,
    dictionary.people AS records,
    summed.with_msu,
    summed.msus,
    summed.score
FROM (
    SELECT
        code,
        sum(records)::BIGINT AS with_msu,
        sum(msus)::BIGINT AS msus,
        sum(score)::HUGEINT AS score
    FROM value_counts
    WHERE attribute = wanted
    GROUP BY code
) AS summed
INNER JOIN dictionary ON summed.code = dictionary.code
ORDER BY summed.score DESC, summed.code;

-- One row per group of records: those with minimal sample uniques, how many they have, their scores.
CREATE OR REPLACE VIEW group_sums AS
SELECT
    members.member,
    count(*) AS records,
    count(scores.record) AS with_msu,
    coalesce(sum(scores.msus), 0)::BIGINT AS msus,
    coalesce(sum(scores.score), 0)::HUGEINT AS score
FROM members
LEFT JOIN scores ON members.record = scores.record
GROUP BY members.member
ORDER BY members.member NULLS LAST;

-- One row: the records that miss a value, the complete ones that have a minimal sample unique, and
-- the quasi-identifiers with missing values, a bit for each position.
CREATE OR REPLACE VIEW completions AS
SELECT
    count(*) FILTER (WHERE numbered.missing <> 0) AS incomplete,
    count(scores.record) FILTER (WHERE numbered.missing = 0) AS singled_out,
    bit_or(numbered.missing) AS missing
FROM numbered
LEFT JOIN scores ON numbered.record = scores.record;

-- One row: all records, those alone in their block by all quasi-identifiers, those in blocks of two,
-- and the largest number of a record.
CREATE OR REPLACE VIEW wide_totals AS
SELECT
    sum(size)::BIGINT AS individuals,
    count(*) FILTER (WHERE size = 1) AS uniques,
    2 * count(*) FILTER (WHERE size = 2) AS paired,
    max(person) AS last
FROM (
    SELECT
        count(*) AS size,
        max(person) AS person
    FROM people
    GROUP BY qid
) AS blocks;

-- One row per record that is alone by a subset of the family and was not by what it shares.
CREATE OR REPLACE VIEW alone_by_family AS
SELECT
    any_value(codes.person) AS record,
    codes.attribute
FROM codes
INNER JOIN sharing ON codes.person = sharing.person
WHERE codes.attribute BETWEEN getvariable('least') AND getvariable('greatest')
GROUP BY
    codes.attribute,
    codes.code,
    sharing.block
HAVING count(*) = 1;

-- One row per minimal sample unique of the family: no smaller one of the record is a part of it.
CREATE OR REPLACE VIEW minimal_in_family AS
SELECT
    record,
    attribute
FROM alone
WHERE NOT EXISTS (
    SELECT 1
    FROM smaller
    WHERE
        smaller.last IN (SELECT unnest(getvariable('members')))
        AND smaller.record = alone.record
        AND smaller.attribute = alone.attribute
        AND list_has_all(getvariable('members'), smaller.others)
);

-- One row per minimal sample unique: what it shares with its family, and the last of that.
CREATE OR REPLACE VIEW with_members AS
SELECT
    record,
    attribute,
    getvariable('members') AS others,
    list_last(getvariable('members')) AS last
FROM minimal;

-- One row per subset of the family: its number, and how many records it is minimal for.
CREATE OR REPLACE VIEW family_sets AS
SELECT
    getvariable('number')::BIGINT + attribute AS taken,
    count(*) AS msus
FROM minimal
GROUP BY attribute;

-- One row per record of the family: how many minimal sample uniques it has there.
CREATE OR REPLACE VIEW minimal_records AS
SELECT
    record,
    count(*) AS msus
FROM minimal
GROUP BY record;

-- One row per record that an attribute singles out.
CREATE OR REPLACE VIEW single_records AS
SELECT
    record,
    attribute
FROM minimal;

-- One row per record: how many minimal sample uniques it has in families of one size.
CREATE OR REPLACE VIEW family_records AS
SELECT
    record,
    getvariable('size')::BIGINT AS size,
    sum(msus)::BIGINT AS msus
FROM counted
GROUP BY record;

-- One row per minimal sample unique, the last of what is shared side by side.
CREATE OR REPLACE VIEW by_last AS
SELECT
    record,
    attribute,
    others,
    last
FROM smaller
ORDER BY last;

-- One row per record and attribute, less those by which it is alone: no other minimal one has these.
CREATE OR REPLACE VIEW codes_shared AS
SELECT
    codes.person,
    codes.attribute,
    codes.code
FROM codes
WHERE NOT EXISTS (
    SELECT 1
    FROM singles
    WHERE singles.record = codes.person AND singles.attribute = codes.attribute
)
ORDER BY codes.attribute;

-- One row per record with a minimal sample unique: how many, its score, the size of the smallest.
CREATE OR REPLACE VIEW scores_by_size AS
SELECT
    record,
    sum(msus)::BIGINT AS msus,
    sum(msus * list_extract(getvariable('scores'), size))::BIGINT AS score,
    min(size) AS smallest
FROM record_sizes
GROUP BY record;
