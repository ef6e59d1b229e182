-- One row per beginning of a word, of as many characters as words are cut after, and the state that
-- it leads to; state -1 for a whole word that is shorter.
CREATE OR REPLACE VIEW prefixes AS
WITH RECURSIVE grown AS (
    SELECT
        '' AS text,
        0 AS state,
        characters AS missing
    FROM cut
    UNION ALL
    SELECT
        concat(grown.text, moves.symbol) AS text,
        moves.after AS state,
        grown.missing - 1 AS missing
    FROM grown
    JOIN moves ON moves.state = grown.state
    WHERE grown.missing > 0
)
SELECT
    grown.text,
    CASE WHEN grown.missing = 0 THEN grown.state ELSE -1 END AS state
FROM grown
WHERE grown.missing = 0 OR grown.state IN (SELECT state FROM finals);
