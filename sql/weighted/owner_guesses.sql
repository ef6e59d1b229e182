-- One row per block: the key of the record that the adversary guesses to be the target's,
-- the heaviest, and the smallest key of those that are equally heavy.
CREATE OR REPLACE VIEW owner_guesses AS
SELECT
    blocks.qid,
    min(microdata.key) AS best_guess
FROM blocks
JOIN microdata ON
    microdata.qid IS NOT DISTINCT FROM blocks.qid AND microdata.weight = blocks.heaviest
GROUP BY blocks.qid;
