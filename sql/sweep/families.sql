-- Families of subsets, which share all quasi-identifiers but one. Their blocks are those by what they
-- share, parted by each first attribute in turn. There may be any number of quasi-identifiers.

-- One row per person and attribute: its number, and the code of her value.
CREATE OR REPLACE VIEW codes_of_attribute AS
SELECT
    people.person,
    wanted_attribute::USMALLINT AS attribute,
    dictionary.code::INTEGER AS code
FROM people
INNER JOIN dictionary ON people.attribute_value IS NOT DISTINCT FROM dictionary.value;

-- One row per person: the one block of all people.
CREATE OR REPLACE VIEW in_one_block AS
SELECT
    person,
    0::BIGINT AS block
FROM people;

-- One row per person who is not alone by what subsets share, with one attribute more: her block.
CREATE OR REPLACE VIEW sharing_more AS
SELECT
    person,
    min(person) OVER (PARTITION BY block, code) AS block
FROM (
    SELECT
        sharing.person,
        sharing.block,
        codes.code
    FROM sharing
    INNER JOIN codes ON sharing.person = codes.person
    WHERE codes.attribute = getvariable('shared')
) AS coded
QUALIFY count(*) OVER (PARTITION BY block, code) > 1;

-- One row per block of a subset: its people. Those who are alone by what is shared are left out.
CREATE OR REPLACE VIEW owned_blocks AS
SELECT
    getvariable('number')::BIGINT + attribute AS state,
    0::UTINYINT AS question,
    size,
    1::BIGINT AS mode,
    size AS "values",
    1::BIGINT AS blocks
FROM (
    SELECT
        codes.attribute,
        count(*) AS size
    FROM codes
    INNER JOIN sharing ON codes.person = sharing.person
    WHERE codes.attribute BETWEEN getvariable('least') AND getvariable('greatest')
    GROUP BY
        codes.attribute,
        codes.code,
        sharing.block
) AS parted;

-- One row per block of a subset: its people, those with the most frequent value of a secret, its
-- values. Those who are alone by what is shared are left out.
CREATE OR REPLACE VIEW blocks_with_secret AS
SELECT
    getvariable('number')::BIGINT + attribute AS state,
    getvariable('question') AS question,
    sum(people)::BIGINT AS size,
    max(people) AS mode,
    count(*) AS "values",
    1::BIGINT AS blocks
FROM (
    SELECT
        codes.attribute,
        codes.code,
        sharing.block,
        secrets.code AS secret,
        count(*) AS people
    FROM codes
    INNER JOIN sharing ON codes.person = sharing.person
    INNER JOIN secrets ON sharing.person = secrets.person
    WHERE
        codes.attribute BETWEEN getvariable('least') AND getvariable('greatest')
        AND secrets.attribute = getvariable('question')
    GROUP BY
        codes.attribute,
        codes.code,
        sharing.block,
        secrets.code
) AS parted
GROUP BY
    attribute,
    code,
    block;

-- One row per subset, question and percent (0 for all): the sums of what one family found.
CREATE OR REPLACE VIEW family_sums AS
SELECT
    state,
    question,
    bin * getvariable('with_bins') AS bin,
    sum(blocks)::BIGINT AS blocks,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain,
    min(k) AS k,
    min(l) AS l,
    max(worst_case) AS worst_case
FROM found
GROUP BY ALL;

-- One row per subset: those who are alone by what its family shares.
CREATE OR REPLACE VIEW alone_sums AS
SELECT
    getvariable('number')::BIGINT + attribute AS state,
    getvariable('question') AS question,
    (100 * getvariable('with_bins'))::UTINYINT AS bin,
    getvariable('alone') AS blocks,
    getvariable('alone') AS people,
    getvariable('alone') AS mode,
    getvariable('alone') AS certain,
    1 AS k,
    1 AS l,
    1.0::DOUBLE AS worst_case
FROM (SELECT unnest(range(getvariable('least'), getvariable('greatest') + 1)) AS attribute) AS members;
