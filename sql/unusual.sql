-- One row per guess and value of the secret of which it gains something unusual: how much more
-- than usual, times `scale`.
CREATE OR REPLACE VIEW unusual AS
SELECT
    stakes.rank,
    pairs.code,
    round(pairs.gain * (SELECT scale FROM scale))::HUGEINT - stakes.usual AS extra
FROM pairs
JOIN stakes ON stakes.guess IS NOT DISTINCT FROM pairs.guess
WHERE round(pairs.gain * (SELECT scale FROM scale))::HUGEINT <> stakes.usual;
