-- What the adversary does not know: entropies, guesses, capacity.

-- One row per block: the counts of its values of the secret, from the most frequent on.
CREATE OR REPLACE VIEW spectrum AS
SELECT
    qid,
    list(weight ORDER BY weight DESC) AS counts
FROM cells
GROUP BY qid;

-- One row per kind of block by the counts of its values, whichever these are: how many there are.
CREATE OR REPLACE VIEW spectra AS
SELECT
    counts,
    count(*) AS blocks
FROM spectrum
GROUP BY counts;

-- One row per block: what the adversary does not know of one of its people: Shannon entropy in
-- bits, and the expected number of guesses until one is right.
CREATE OR REPLACE VIEW doubts AS
SELECT
    qid,
    list_sum(list_transform(counts, lambda c: c / size * log2(size / c))) AS entropy,
    list_sum(list_transform(counts, lambda c, i: c / size * i)) AS guessing
FROM (SELECT qid, counts, list_sum(counts) AS size FROM spectrum) AS spectrum;

-- One row per block: what the adversary does not know of whose record it is, one person as likely
-- as the other: Shannon entropy in bits, and the expected number of guesses until one is right.
CREATE OR REPLACE VIEW owner_doubts AS
SELECT
    qid,
    log2(size) AS entropy,
    (size + 1) / 2 AS guessing
FROM blocks;

-- One row: how uncertain the adversary remains in the blocks. `entropy` is their mean Shannon
-- entropy in bits, `guessing` the number of guesses that all people together take. Sums of
-- fractions are taken in whole parts of 2 to the power of -80, so that their order is nothing.
CREATE OR REPLACE VIEW uncertainty AS
SELECT
    sum(
        (
            blocks * size / everybody * pow(2, 80)
            * list_sum(list_transform(counts, lambda c: c / size * log2(size / c)))
        )::HUGEINT
    ) / pow(2, 80) AS entropy,
    sum(blocks * list_sum(list_transform(counts, lambda c, i: c * i))) AS guessing
FROM (
    SELECT
        counts,
        blocks,
        list_sum(counts) AS size,
        (SELECT sum(blocks * list_sum(counts)) FROM spectra) AS everybody
    FROM spectra
) AS spectra;

-- One row per number of people that share a value of the secret: over the blocks where a value
-- shared by so many has the largest share of all its people, how many of them stand there. The
-- multiplicative Bayes capacity is the sum of people / everybody.
CREATE OR REPLACE VIEW capacity AS
SELECT
    -best.everybody AS everybody,
    sum(best.people) AS people
FROM (
    SELECT
        cells.qid,
        max({
            'share': cells.weight / prior_cells.weight,
            'everybody': -prior_cells.weight,
            'people': cells.weight
        }) AS best
    FROM cells
    JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
    GROUP BY cells.qid
) AS shares
GROUP BY best.everybody;

-- One row per kind of block: its people, and the value of the secret whose share rises most there:
-- how many people of the block have it (`people`), and how many of all (`everybody`). The pointwise
-- maximal leakage of such a block is the logarithm of people / size over everybody / all people.
CREATE OR REPLACE VIEW pointwise AS
SELECT
    size,
    best.people AS people,
    -best.everybody AS everybody,
    count(*) AS blocks
FROM (
    SELECT
        cells.qid,
        sum(cells.weight)::BIGINT AS size,
        max({
            'share': cells.weight / prior_cells.weight,
            'everybody': -prior_cells.weight,
            'people': cells.weight
        }) AS best
    FROM cells
    JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
    GROUP BY cells.qid
) AS rises
GROUP BY size, best.people, best.everybody;

-- One row per value of the secret: how many people have it, and how likely it is for the people who
-- are least and most suspected of it (at most `low` and at least `high` for 5 of 100 people); how many
-- people are suspected of it twice as much as before or more, though not certainly.
CREATE OR REPLACE VIEW value_chances AS
SELECT
    value,
    people,
    CASE WHEN 20 * max(without) >= everybody THEN 0
    ELSE min(share / size) FILTER (WHERE 20 * (without + upto) >= everybody) END AS low,
    coalesce(max(share / size) FILTER (WHERE 20 * downto >= everybody), 0) AS high,
    coalesce(
        sum(crowd) FILTER (WHERE share < size AND share * everybody >= 2 * people * size), 0
    )::BIGINT AS suspected
FROM (
    SELECT
        value,
        people,
        everybody,
        share,
        size,
        crowd,
        sum(crowd) OVER (PARTITION BY value ORDER BY share / size) AS upto,
        sum(crowd) OVER (PARTITION BY value ORDER BY share / size DESC) AS downto,
        everybody - sum(crowd) OVER (PARTITION BY value) AS without
    FROM (
        SELECT
            cells.secret AS value,
            prior_cells.weight AS people,
            total.size AS everybody,
            cells.weight AS share,
            blocks.size,
            sum(blocks.size)::BIGINT AS crowd
        FROM cells
        INNER JOIN blocks ON cells.qid IS NOT DISTINCT FROM blocks.qid
        INNER JOIN prior_cells ON cells.secret IS NOT DISTINCT FROM prior_cells.secret
        CROSS JOIN (SELECT sum(size)::BIGINT AS size FROM blocks) AS total
        GROUP BY cells.secret, prior_cells.weight, total.size, share, blocks.size
    ) AS of_blocks
) AS ordered
GROUP BY value, people, everybody;

-- One row per block and value of the secret that occurs in it: the number of the value, how many of
-- the block's people have it, and how many of all.
CREATE OR REPLACE VIEW coded_cells AS
SELECT
    cells.qid,
    numbered.code,
    cells.weight AS people,
    numbered.everybody
FROM cells
JOIN (
    SELECT
        secret,
        weight AS everybody,
        row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code
    FROM prior_cells
) AS numbered ON numbered.secret IS NOT DISTINCT FROM cells.secret;

-- One row per pair of values of the secret that occur in a block together: the overlap of their rows
-- of the channel, which is overlap / product. One minus it is their total-variation distance.
CREATE OR REPLACE VIEW value_overlaps AS
SELECT
    sum(
        least(
            first_cells.people::HUGEINT * second_cells.everybody,
            second_cells.people::HUGEINT * first_cells.everybody
        )
    )::HUGEINT AS overlap,
    any_value(first_cells.everybody::HUGEINT * second_cells.everybody) AS product
FROM coded_cells AS first_cells
JOIN coded_cells AS second_cells
    ON
        second_cells.qid IS NOT DISTINCT FROM first_cells.qid
        AND second_cells.code > first_cells.code
GROUP BY first_cells.code, second_cells.code;

-- One row: how many pairs of values of the secret overlap, and the overlap of the pair that overlaps
-- least, as overlap / product. The Bayes security is this overlap, or 0 if a pair does not overlap.
CREATE OR REPLACE VIEW security AS
SELECT
    count(*) AS pairs,
    min({'share': overlap / product, 'overlap': overlap, 'product': product}).overlap AS overlap,
    min({'share': overlap / product, 'overlap': overlap, 'product': product}).product AS product
FROM value_overlaps;
