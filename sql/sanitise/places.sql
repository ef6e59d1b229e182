-- One row per value of a quasi-identifier among the people: its place in their order, from 1 (that
-- of the hierarchy first, where there is one); the missing value has place 0.
CREATE OR REPLACE VIEW places AS
SELECT
    value,
    people,
    CASE WHEN value IS NOT NULL
        THEN row_number() OVER (ORDER BY leaf NULLS LAST, value NULLS LAST)
    ELSE 0 END::INTEGER AS place
FROM raw_values;
