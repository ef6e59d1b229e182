-- One row per word of the patterns, each once: what may have been hashed.
CREATE OR REPLACE VIEW candidates AS
SELECT concat(prefixes.text, suffixes.text) AS candidate
FROM prefixes
JOIN suffixes ON suffixes.state = prefixes.state;
