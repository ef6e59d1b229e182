-- One row per tuple of columns that must match exactly, over all releases, with its number.
CREATE OR REPLACE VIEW exacts AS
SELECT
    row_number() OVER () AS number,
    exact
FROM (SELECT DISTINCT exact FROM matched) AS different;
