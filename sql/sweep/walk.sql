-- The condensed walk through one chunk.

-- One row per different person of a chunk: her block by the first attribute, her codes of the
-- attributes that are undecided, packed, and how many are alike.
CREATE OR REPLACE VIEW entered AS
SELECT
    keyed(entry, getvariable('state')) AS block,
    rest,
    word,
    getvariable('this') AS turn
FROM coded
WHERE entry BETWEEN getvariable('least') AND getvariable('greatest');

-- One row per block that takes this attribute: its people, and its state, in which what does not
-- vary is free.
CREATE OR REPLACE VIEW taken AS
SELECT
    block,
    code,
    word,
    people(word) AS size,
    within_sizes(state) AS state
FROM (
    SELECT
        block,
        code,
        word,
        took(state_of(block), varying) AS state
    FROM (
        SELECT
            block,
            rest & getvariable('field') AS code,
            sum(word)::HUGEINT AS word,
            varying(xor(bit_or(rest), bit_and(rest))) AS varying
        FROM live
        WHERE turn = getvariable('this')
        GROUP BY block, code
    ) AS blocks
) AS parts;

-- One row per block that took this attribute and in which something varies: its new key.
CREATE OR REPLACE VIEW children AS
SELECT
    block,
    code,
    keyed(row_number() OVER () + getvariable('blocks'), state) AS child,
    turn(state) AS turn
FROM taken
WHERE open(state) <> 0 AND size > 2;

-- One row per different person of a block that took this attribute and goes on: under its new key,
-- without the attribute's code.
CREATE OR REPLACE VIEW stripped AS
SELECT
    children.child AS block,
    live.rest & getvariable('later') AS rest,
    live.word AS word,
    children.turn
FROM live
INNER JOIN children
    ON live.block = children.block AND (live.rest & getvariable('field')) = children.code
WHERE live.turn = getvariable('this');

-- One row per different person of a block that goes on: blocks that took this attribute under
-- their new keys, blocks that dropped it with equal rows merged, and blocks whose turn comes later.
CREATE OR REPLACE VIEW onward AS
SELECT
    block,
    rest,
    word,
    turn
FROM (
    SELECT
        block,
        rest,
        word,
        turn
    FROM stripped
    UNION ALL
    SELECT
        block,
        rest,
        word,
        turn(state_of(block)) AS turn
    FROM (
        SELECT
            block & ~getvariable('bit') AS block,
            rest & getvariable('later') AS rest,
            sum(word)::HUGEINT AS word
        FROM live
        WHERE turn = getvariable('this') AND may_drop(state_of(block))
        GROUP BY ALL
    ) AS dropped
    UNION ALL
    SELECT
        block,
        rest,
        word,
        turn
    FROM live
    WHERE turn >= getvariable('two') AND (turn & getvariable('bit')) = 0
) AS people;

-- One row: how many rows are in blocks in which this attribute is the first that varies, with two
-- others or more, or with one other; and in how many blocks two or more vary.
CREATE OR REPLACE VIEW turns AS
SELECT
    count(*) FILTER (WHERE turn = getvariable('this')) AS many_left,
    count(*) FILTER (WHERE turn = getvariable('this_and_another')) AS two_left,
    count(*) FILTER (WHERE turn >= getvariable('two')) AS going_on
FROM live;

-- One row per kind of block that took this attribute and takes nothing more that varies. A block of
-- two people is settled for good: they are alone as soon as anything that varies is taken.
CREATE OR REPLACE VIEW settled_taken AS
SELECT
    CASE WHEN size = 2 THEN state ELSE drop_open(state) END AS state,
    word,
    count(*) AS blocks
FROM taken
GROUP BY ALL;

-- One row per kind of block that takes all that varies in the block before, which is one attribute
-- or two: each row of those blocks is such a block by itself.
CREATE OR REPLACE VIEW settled_cells AS
SELECT
    take(state, -1) AS state,
    word,
    blocks
FROM (
    SELECT
        state_of(block) AS state,
        word,
        count(*) AS blocks
    FROM live
    WHERE turn BETWEEN getvariable('first_turn') AND getvariable('last_turn')
    GROUP BY ALL
) AS cells;

-- One row per kind of block that takes one of the two attributes that vary in the block before.
CREATE OR REPLACE VIEW settled_parts AS
SELECT
    take(state, getvariable('chosen')) AS state,
    word,
    blocks
FROM (
    SELECT
        state_of(block) AS state,
        word,
        count(*) AS blocks
    FROM (
        SELECT
            block,
            sum(word)::HUGEINT AS word
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, rest & getvariable('seen')
    ) AS parts
    GROUP BY ALL
) AS kinds;
