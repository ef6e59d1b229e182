-- One row per success of the best guess: how many people stand in blocks with that success.
CREATE OR REPLACE VIEW chances AS
SELECT
    mode / (size * (SELECT scale FROM asked)) AS chance,
    100 * mode / (size * (SELECT scale FROM asked)) AS percent,
    sum(size * blocks)::BIGINT AS people
FROM profile
GROUP BY chance, percent;
