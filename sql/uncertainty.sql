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
