-- One row per state and character that may follow in a word of the patterns: the state after it.
CREATE OR REPLACE VIEW moves AS
SELECT
    steps.state,
    chr(symbols.code) AS symbol,
    steps.after
FROM steps
JOIN symbols ON symbols.kind = steps.kind;
