-- One row per block: the key of the record that the adversary guesses to be the target's,
-- the smallest of those that are equally likely.
CREATE OR REPLACE VIEW owner_guesses AS
SELECT
    qid,
    min(key) AS best_guess
FROM microdata
GROUP BY qid;
