-- One row per block: what the adversary does not know of one of its people: Shannon entropy in
-- bits, and the expected number of guesses until one is right.
CREATE OR REPLACE VIEW doubts AS
SELECT
    qid,
    list_sum(list_transform(counts, lambda c: c / size * log2(size / c))) AS entropy,
    list_sum(list_transform(counts, lambda c, i: c / size * i)) AS guessing
FROM (SELECT qid, counts, list_sum(counts) AS size FROM spectrum) AS spectrum;
