-- The objects of information flow: numbered blocks, co-occurrences, inners, the hyper.

-- One row per block, numbered from 1 in the order of its quasi-identifiers, missing last.
CREATE OR REPLACE VIEW numbered AS
SELECT
    qid,
    weight,
    row_number() OVER (ORDER BY qid ASC NULLS LAST) AS block
FROM blocks;

-- One row per block and value of the secret that occur together: how many people, their weight,
-- that of the block, of the value (with its number) and of everybody.
CREATE OR REPLACE VIEW cooccurrences AS
SELECT
    numbered.block,
    numbered.qid,
    secret_values.code,
    cells.secret,
    cells.people,
    cells.weight,
    numbered.weight AS block_weight,
    prior_cells.weight AS value_weight,
    (SELECT sum(weight) FROM prior_cells) AS everybody
FROM cells
JOIN numbered ON numbered.qid IS NOT DISTINCT FROM cells.qid
JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells.secret;

-- One row per block: its inner, the distribution of the secret among its people, as counts of the
-- numbered values divided by their greatest common divisor, so that equal inners are equal lists.
CREATE OR REPLACE VIEW inners AS
SELECT
    block,
    weight,
    list_transform(parts, lambda p: {'code': p.code, 'part': p.part // divisor}) AS parts
FROM (
    SELECT
        numbered.block,
        any_value(numbered.weight) AS weight,
        list({'code': secret_values.code, 'part': cells.weight} ORDER BY secret_values.code)
            AS parts,
        list_reduce(list(cells.weight), lambda a, b: gcd(a, b)) AS divisor
    FROM cells
    JOIN numbered ON numbered.qid IS NOT DISTINCT FROM cells.qid
    JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells.secret
    GROUP BY numbered.block
) AS counted;

-- One row per different inner: the weight of the blocks that have it (the outer, times everybody),
-- how many they are, and the first of them.
CREATE OR REPLACE VIEW hyper AS
SELECT
    row_number() OVER (ORDER BY min(block) ASC) AS inner_number,
    parts,
    sum(weight) AS weight,
    count(*) AS blocks,
    min(block) AS block
FROM inners
GROUP BY parts;

-- One row per value of the secret: the people who have it, and the prior, a fraction in lowest terms.
CREATE OR REPLACE VIEW value_priors AS
SELECT
    secret_values.code,
    secret_values.value,
    prior_cells.people AS count,
    prior_cells.weight // gcd(prior_cells.weight::HUGEINT, everybody.weight::HUGEINT) AS numerator,
    everybody.weight // gcd(prior_cells.weight::HUGEINT, everybody.weight::HUGEINT) AS denominator,
    prior_cells.weight / everybody.weight AS probability
FROM prior_cells
CROSS JOIN (SELECT sum(weight) AS weight FROM prior_cells) AS everybody
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM prior_cells.secret;

-- One row per block and value of the secret that occur together: their people, and how likely both
-- are, a fraction in lowest terms.
CREATE OR REPLACE VIEW joint AS
SELECT
    block,
    qid,
    code,
    secret AS value,
    people AS count,
    weight // gcd(weight::HUGEINT, everybody::HUGEINT) AS numerator,
    everybody // gcd(weight::HUGEINT, everybody::HUGEINT) AS denominator,
    weight / everybody AS probability
FROM cooccurrences;

-- One row per block and value of the secret that occur together: their people, and how likely the
-- block is for people with the value, a fraction in lowest terms.
CREATE OR REPLACE VIEW channel AS
SELECT
    block,
    qid,
    code,
    secret AS value,
    people AS count,
    weight // gcd(weight::HUGEINT, value_weight::HUGEINT) AS numerator,
    value_weight // gcd(weight::HUGEINT, value_weight::HUGEINT) AS denominator,
    weight / value_weight AS probability
FROM cooccurrences;

-- One row per inner and value in it: how likely the inner is (the outer), its first block, and how
-- likely the value is in it; both are fractions in lowest terms.
CREATE OR REPLACE VIEW posteriors AS
SELECT
    inner_number AS "inner",
    entries.weight // gcd(entries.weight::HUGEINT, everybody::HUGEINT) AS outer_numerator,
    everybody // gcd(entries.weight::HUGEINT, everybody::HUGEINT) AS outer_denominator,
    entries.weight / everybody AS "outer",
    entries.blocks,
    entries.block,
    numbered.qid,
    secret_values.code,
    secret_values.value,
    entry.part // gcd(entry.part::HUGEINT, parts_together::HUGEINT) AS numerator,
    parts_together // gcd(entry.part::HUGEINT, parts_together::HUGEINT) AS denominator,
    entry.part / parts_together AS probability
FROM (
    SELECT
        hyper.*,
        unnest(parts) AS entry,
        list_sum(list_transform(parts, lambda p: p.part)) AS parts_together,
        (SELECT sum(weight) FROM hyper) AS everybody
    FROM hyper
) AS entries
JOIN numbered ON numbered.block = entries.block
JOIN secret_values ON secret_values.code = entry.code;
