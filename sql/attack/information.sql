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
