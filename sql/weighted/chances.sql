-- One row per success of the best guess: how many people stand in blocks with that success.
CREATE OR REPLACE VIEW chances AS
SELECT
    mode / weight / (SELECT scale FROM asked) AS chance,
    100 * mode::DOUBLE / weight::DOUBLE / (SELECT scale FROM asked) AS percent,
    sum(size)::BIGINT AS people
FROM blocks
GROUP BY chance, percent;
