-- One row per level of a measure that is close to the worst one, or to the one that is wanted: how
-- many blocks are there, and how many people in them. Blocks that are clearly worse than what is
-- wanted stand together in a row without a level.
CREATE OR REPLACE VIEW near AS
SELECT
    CASE WHEN close THEN part // gcd(part, whole) END::VARCHAR AS part,
    CASE WHEN close THEN whole // gcd(part, whole) END::VARCHAR AS whole,
    CASE WHEN close THEN logarithm END AS logarithm,
    sum(blocks)::BIGINT AS blocks,
    sum(blocks * members)::BIGINT AS people
FROM (
    SELECT
        scored.blocks,
        scored.members,
        scored.part,
        scored.whole,
        scored.logarithm,
        scored.score BETWEEN bounds.low AND bounds.high OR scored.score >= bounds.edge AS close
    FROM scored
    CROSS JOIN bounds
    WHERE scored.score >= least(bounds.low, bounds.edge)
) AS looked_at
GROUP BY ALL;
