-- One row per value of the secret, a number: the highest value that a guess still hits which hits
-- this one, too. Guesses are values of the secret and hit what is within the tolerance.
CREATE OR REPLACE VIEW reaches AS
SELECT
    numbers.code,
    numbers.value,
    coalesce(highest.code, numbers.code) AS reach
FROM numbers
ASOF LEFT JOIN numbers AS guessed
    ON numbers.number + (SELECT tolerance FROM asked) >= guessed.number
ASOF LEFT JOIN numbers AS highest
    ON guessed.number + (SELECT tolerance FROM asked) >= highest.number;
