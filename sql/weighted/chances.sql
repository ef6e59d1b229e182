-- One row per success of the best guess: how many people stand in blocks with that success.
CREATE OR REPLACE VIEW chances AS
SELECT
    (mode // shared) / (weight // shared) / (SELECT scale FROM asked) AS chance,
    100 * (mode // shared) / (weight // shared) / (SELECT scale FROM asked) AS percent,
    sum(size)::BIGINT AS people
FROM (SELECT *, gcd(mode::HUGEINT, weight::HUGEINT) AS shared FROM blocks) AS blocks
GROUP BY chance, percent;
