-- The same views of the sweep where the values of a secret are counted one by one.

-- One row per value of this attribute and of the secret in a block: its people, and the bits that some
-- or all of them have. Of a person alone they are all her own.
CREATE OR REPLACE VIEW cells AS
SELECT
    block,
    rest & (getvariable('field') | getvariable('secret')) AS cell,
    sum(word)::BIGINT AS people,
    bit_or(rest) AS every_bit,
    bit_and(rest) AS common_bits
FROM live
WHERE turn = getvariable('this')
GROUP BY block, cell;

-- One row per kind of block that takes all that varies in the block before, which is one attribute
-- or two: the rows of those blocks are such blocks, but for the values of the secret.
CREATE OR REPLACE VIEW settled_cells AS
SELECT
    take(state, -1) AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        state_of(block) AS state,
        sum(word)::BIGINT AS size,
        max(mode_of(rest, word))::BIGINT AS mode,
        sum(values_of(rest, word))::BIGINT AS "values"
    FROM live
    WHERE turn BETWEEN getvariable('first_turn') AND getvariable('last_turn')
    GROUP BY block, rest >> getvariable('secret_bits')
) AS cells
GROUP BY ALL;

-- One row per kind of block that takes one of the two attributes that vary in the block before.
CREATE OR REPLACE VIEW settled_parts AS
SELECT
    take(state, getvariable('chosen')) AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        state_of(block) AS state,
        sum(people)::BIGINT AS size,
        max(mode_of(cell, people)) AS mode,
        sum(values_of(cell, people))::BIGINT AS "values"
    FROM (
        SELECT
            block,
            rest & (getvariable('seen') | getvariable('secret')) AS cell,
            sum(word)::BIGINT AS people
        FROM live
        WHERE turn = getvariable('this_and_another')
        GROUP BY block, cell
    ) AS cells
    GROUP BY block, cell >> getvariable('secret_bits')
) AS parts
GROUP BY ALL;

-- One row per kind of block by the attributes that are kept.
CREATE OR REPLACE VIEW settled_rolled AS
SELECT
    getvariable('state') AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM (
    SELECT
        sum(people)::BIGINT AS size,
        max(people)::BIGINT AS mode,
        count(*) AS "values"
    FROM (
        SELECT
            packed_key & getvariable('kept') AS cell,
            sum(word)::BIGINT AS people
        FROM finer
        GROUP BY cell
    ) AS cells
    GROUP BY cell >> getvariable('secret_bits')
) AS blocks
GROUP BY ALL;

-- One row per different person of a block that took this attribute and goes on: under its new key,
-- without the attribute's code. People whose value of the secret nobody else in the new block has
-- forget it, and merge.
CREATE OR REPLACE VIEW stripped AS
SELECT
    block,
    rest,
    word,
    turn
FROM (
    SELECT
        shared.child AS block,
        live.rest & getvariable('later') AS rest,
        live.word AS word,
        shared.turn
    FROM live
    INNER JOIN (
        SELECT
            cells.block,
            cells.cell,
            children.child,
            children.turn
        FROM cells
        INNER JOIN children
            ON
                cells.block = children.block
                AND (cells.cell & getvariable('field')) = children.code
        WHERE cells.people > 1
    ) AS shared
        ON
            live.block = shared.block
            AND (live.rest & (getvariable('field') | getvariable('secret'))) = shared.cell
    WHERE live.turn = getvariable('this')
    UNION ALL
    SELECT
        children.child AS block,
        (cells.every_bit & getvariable('later')) | getvariable('secret') AS rest,
        count(*) AS word,
        children.turn
    FROM cells
    INNER JOIN children
        ON cells.block = children.block AND (cells.cell & getvariable('field')) = children.code
    WHERE cells.people = 1
    GROUP BY ALL
) AS people;

-- One row per block that takes this attribute: its people, how many share the most frequent value
-- of the secret, how many values occur; and its state, in which what does not vary is free.
CREATE OR REPLACE VIEW taken AS
SELECT
    block,
    code,
    size,
    mode,
    "values",
    within_sizes(state) AS state
FROM (
    SELECT
        block,
        code,
        size,
        mode,
        "values",
        took(state_of(block), varying) AS state
    FROM (
        SELECT
            block,
            cell & getvariable('field') AS code,
            sum(people)::BIGINT AS size,
            max(mode_of(cell, people)) AS mode,
            sum(values_of(cell, people))::BIGINT AS "values",
            varying(xor(bit_or(every_bit), bit_and(common_bits))) AS varying
        FROM cells
        GROUP BY block, code
    ) AS blocks
) AS parts;

-- One row per kind of block that took this attribute and takes nothing more that varies. A block of
-- two people is settled for good: they are alone as soon as anything that varies is taken.
CREATE OR REPLACE VIEW settled_taken AS
SELECT
    CASE WHEN size = 2 THEN state ELSE drop_open(state) END AS state,
    size,
    mode,
    "values",
    count(*) AS blocks
FROM taken
GROUP BY ALL;

-- One row: the one block of all people of the chunk.
CREATE OR REPLACE VIEW whole_block AS
SELECT
    getvariable('state') AS state,
    sum(people)::BIGINT AS size,
    max(people)::BIGINT AS mode,
    count(*) AS "values",
    1::BIGINT AS blocks
FROM (
    SELECT sum(word)::BIGINT AS people
    FROM coded
    WHERE entry BETWEEN getvariable('least') AND getvariable('greatest')
    GROUP BY rest & getvariable('secret')
) AS cells;
