-- One row per message, with the message as a whole number: of 2^(40 part - 50), so that parts from
-- 2^(40 part) to 2^(40 part + 40) keep 50 bits of the least of them, and sums are of no order.
CREATE OR REPLACE VIEW wholes AS
SELECT
    *,
    (message * 2.0::DOUBLE ** (50 - 40 * part))::HUGEINT AS whole
FROM (
    SELECT
        *,
        greatest(-1, floor(log2(message) / 40))::INTEGER AS part
    FROM messages
) AS sorted;
