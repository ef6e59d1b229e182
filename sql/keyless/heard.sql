-- One row per kind that hears messages and part: the sum of this part as a whole number, and the sum
-- of all other parts.
CREATE OR REPLACE VIEW heard AS
SELECT
    sums.receiver,
    sums.part,
    any_value(sums.total) AS total,
    coalesce(
        sum(others.total::DOUBLE * 2.0::DOUBLE ** (40 * others.part - 50) ORDER BY others.part)
        FILTER (WHERE others.part <> sums.part),
        0.0::DOUBLE
    ) AS elsewhere
FROM sums
JOIN sums AS others ON others.receiver = sums.receiver
GROUP BY sums.receiver, sums.part;
