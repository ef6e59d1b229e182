-- One row per combination of values that classes are first told apart by, under a number.
CREATE OR REPLACE VIEW nodes AS
SELECT
    row_number() OVER () AS node,
    place
FROM (SELECT DISTINCT place FROM boxes) AS different;
