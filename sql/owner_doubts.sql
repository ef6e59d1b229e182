-- One row per block: what the adversary does not know of whose record it is, one person as likely
-- as the other: Shannon entropy in bits, and the expected number of guesses until one is right.
CREATE OR REPLACE VIEW owner_doubts AS
SELECT
    qid,
    log2(size) AS entropy,
    (size + 1) / 2 AS guessing
FROM blocks;
