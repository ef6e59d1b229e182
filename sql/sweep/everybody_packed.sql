-- One row per different person, with all codes in one key.
CREATE OR REPLACE VIEW everybody_packed AS
SELECT
    packed(entry, rest) AS packed_key,
    word
FROM coded;
