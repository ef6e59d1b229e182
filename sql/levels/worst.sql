-- The worst blocks, and those close to them.

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

-- One row per block whose entropy is close to the least one, or to the one that is wanted.
CREATE OR REPLACE VIEW close_entropy AS
SELECT of_l_entropy.*
FROM of_l_entropy
CROSS JOIN bounds
WHERE of_l_entropy.score BETWEEN bounds.low AND bounds.high
    OR of_l_entropy.score >= bounds.edge;

-- One row per kind of block whose entropy is close to the least one or to the one that is wanted,
-- by its counts, divided by what divides all of them: how many blocks and people.
CREATE OR REPLACE VIEW near_entropy AS
SELECT
    list_transform(counts, lambda c: c // divisor) AS counts,
    sum(blocks)::BIGINT AS blocks,
    sum(blocks * members)::BIGINT AS people
FROM (
    SELECT
        any_value(close_entropy.blocks) AS blocks,
        any_value(close_entropy.members) AS members,
        list(sized.people ORDER BY sized.people DESC) AS counts,
        list_reduce(list(sized.people), lambda a, b: gcd(a, b)) AS divisor
    FROM close_entropy
    JOIN sized ON sized.qid IS NOT DISTINCT FROM close_entropy.qid
    GROUP BY close_entropy.qid
) AS counted
GROUP BY ALL;

-- One row: the blocks whose entropy is clearly less than what is wanted, and the people in them.
CREATE OR REPLACE VIEW clearly AS
SELECT
    coalesce(sum(of_l_entropy.blocks), 0)::BIGINT AS blocks,
    coalesce(sum(of_l_entropy.blocks * of_l_entropy.members), 0)::BIGINT AS people
FROM of_l_entropy
CROSS JOIN bounds
WHERE of_l_entropy.score > bounds.high;

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

-- One row: a block whose counts, divided by what divides all of them, are those that are sought, the
-- largest and first of them.
CREATE OR REPLACE VIEW worst_entropy AS
SELECT
    counted.qid,
    counted.size
FROM (
    SELECT
        sized.qid,
        any_value(sized.size) AS size,
        list(sized.people ORDER BY sized.people DESC) AS counts,
        list_reduce(list(sized.people), lambda a, b: gcd(a, b)) AS divisor
    FROM close_entropy
    JOIN sized ON sized.qid IS NOT DISTINCT FROM close_entropy.qid
    GROUP BY sized.qid
) AS counted
CROSS JOIN sought
WHERE list_transform(counted.counts, lambda c: c // counted.divisor) = sought.counts
ORDER BY counted.size DESC, counted.qid ASC NULLS LAST
LIMIT 1;

-- One row: the highest score of a block, that is the worst one for all that numbers of 64 bits tell.
CREATE OR REPLACE VIEW worst AS
SELECT max(score) AS score
FROM scored;

-- One row per measure: the size of its worst block, how many values occur there, and how many of its
-- people have each, the most frequent first, at most 100 of them.
CREATE OR REPLACE VIEW worst_counts AS
SELECT
    worst_blocks.measure,
    any_value(worst_blocks.size) AS size,
    count(*) AS "values",
    list(
        {'value': places.value::VARCHAR, 'records': sized.people}
        ORDER BY sized.people DESC, sized.place
    )[:100] AS counts
FROM worst_blocks
JOIN sized ON sized.qid IS NOT DISTINCT FROM worst_blocks.qid
JOIN places ON places.place = sized.place
GROUP BY worst_blocks.measure;

-- One row per block: the people of its most frequent value, and those of the values from number l
-- on, the most frequent first.
CREATE OR REPLACE VIEW tails AS
SELECT
    qid,
    any_value(blocks) AS blocks,
    any_value(size) AS size,
    coalesce(any_value(stand), any_value(size)) AS members,
    max(people) AS mode,
    coalesce(sum(people) FILTER (WHERE number >= lowest_l.l), 0)::BIGINT AS tail
FROM (
    SELECT *, row_number() OVER (PARTITION BY qid ORDER BY people DESC) AS number FROM sized
) AS numbered_pieces
CROSS JOIN lowest_l
GROUP BY qid;
