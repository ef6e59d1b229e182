-- One row per state that a beginning leads to and end of a word that may follow it.
CREATE OR REPLACE VIEW suffixes AS
WITH RECURSIVE grown AS (
    SELECT DISTINCT
        state AS first,
        '' AS text,
        state
    FROM prefixes
    UNION ALL
    SELECT
        grown.first,
        concat(grown.text, moves.symbol) AS text,
        moves.after AS state
    FROM grown
    JOIN moves ON moves.state = grown.state
)
SELECT
    grown.first AS state,
    grown.text
FROM grown
WHERE grown.state = -1 OR grown.state IN (SELECT state FROM finals);
