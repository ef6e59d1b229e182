-- One row: the score from which a block may be the worst one, for all that numbers of 64 bits
-- tell.
CREATE OR REPLACE VIEW worst AS
SELECT
    CASE
        WHEN isinf(max(score)) THEN max(score)
        ELSE max(score) - 1e-9 * abs(max(score)) - 1e-15
    END AS edge
FROM scored;
