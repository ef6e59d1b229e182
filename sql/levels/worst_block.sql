-- One row: a block of the level that is sought, the largest and first of them.
CREATE OR REPLACE VIEW worst_block AS
SELECT
    scored.qid,
    scored.size
FROM scored
CROSS JOIN sought
WHERE scored.score BETWEEN sought.low AND sought.high
    AND scored.part // gcd(scored.part, scored.whole) = sought.part
    AND scored.whole // gcd(scored.part, scored.whole) = sought.whole
    AND scored.logarithm = sought.logarithm
ORDER BY scored.size DESC, scored.qid ASC NULLS LAST
LIMIT 1;
