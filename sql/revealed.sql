-- One row per block: what it reveals about each of its people. `success` is the chance that the
-- best guess of the secret is right, `owner_success` that the guess whose record it is, is right.
CREATE OR REPLACE VIEW revealed AS
SELECT
    blocks.qid,
    blocks.size,
    blocks."values",
    blocks.mode / blocks.weight AS success,
    blocks.heaviest / blocks.weight AS owner_success,
    guesses.best_guess
FROM blocks
JOIN guesses ON guesses.qid IS NOT DISTINCT FROM blocks.qid;
