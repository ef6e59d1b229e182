-- One row per block: the adversary's best guess, the most frequent value of the secret;
-- of equally frequent ones the smallest, a missing value last.
CREATE OR REPLACE VIEW guesses AS
SELECT
    blocks.qid,
    min(cells.secret) AS best_guess
FROM blocks
JOIN cells ON cells.qid IS NOT DISTINCT FROM blocks.qid AND cells.weight = blocks.mode
GROUP BY blocks.qid;
