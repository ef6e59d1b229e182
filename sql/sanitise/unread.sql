-- One row per cell of text that may be more than a value.
CREATE OR REPLACE VIEW unread AS
SELECT
    id,
    cell
FROM cells
WHERE regexp_matches(cell, '[*{\[<>≤≥]|^[(\]]|^[0-9]+-[0-9]+\??$');
