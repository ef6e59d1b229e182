-- One row per block for an adversary with a gain for every guess and value: `mode` is what her
-- best guess gains, times `scale`. It is one of the guesses that gain something unusual there, or
-- the usually best one of the others, whose rank is the first that is missing.
CREATE OR REPLACE VIEW staked AS
SELECT
    touched.qid,
    touched.size,
    touched.weight,
    greatest(touched.best, others.usual * touched.weight) AS mode,
    touched.heaviest,
    touched."values"
FROM (
    SELECT
        blocks.qid,
        blocks.size,
        blocks.weight,
        blocks.heaviest,
        blocks."values",
        max(expected.extra + stakes.usual * blocks.weight) AS best,
        list(expected.rank ORDER BY expected.rank) FILTER (WHERE expected.rank IS NOT NULL)
            AS ranks
    FROM blocks
    LEFT JOIN expected ON expected.qid IS NOT DISTINCT FROM blocks.qid
    LEFT JOIN stakes ON stakes.rank = expected.rank
    GROUP BY blocks.qid, blocks.size, blocks.weight, blocks.heaviest, blocks."values"
) AS touched
LEFT JOIN stakes AS others
    ON others.rank = coalesce(
        nullif(list_position(list_transform(touched.ranks, lambda r, i: r = i), FALSE), 0),
        len(touched.ranks) + 1,
        1
    );
