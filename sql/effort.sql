-- One row: how many sums of a block, a guess and a value have to be added up.
CREATE OR REPLACE VIEW effort AS
SELECT coalesce(sum(cells_of.blocks * guesses_of.guesses), 0)::BIGINT AS additions
FROM (SELECT secret, count(*) AS blocks FROM cells GROUP BY secret) AS cells_of
JOIN secret_values ON secret_values.value IS NOT DISTINCT FROM cells_of.secret
JOIN (SELECT code, count(*) AS guesses FROM unusual GROUP BY code) AS guesses_of
    ON guesses_of.code = secret_values.code;
