-- One row per value of the secret, a number: the highest value that a guess still hits which hits
-- this one, too. Guesses are values of the secret and hit what is within the tolerance: the best
-- guess for this value as the lowest is the furthest above it, and hits the furthest above that.
CREATE OR REPLACE VIEW reaches AS
SELECT
    nearest.code,
    nearest.value,
    beyond.furthest AS reach
FROM nearest
JOIN nearest AS beyond ON beyond.code = nearest.furthest;
