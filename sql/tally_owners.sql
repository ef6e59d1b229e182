-- The profile when the secret is whose record it is, from tallies.
CREATE OR REPLACE VIEW tally_owners AS
SELECT
    size,
    1::BIGINT AS mode,
    size AS "values",
    sum(blocks)::BIGINT AS blocks
FROM signatures
GROUP BY size;
