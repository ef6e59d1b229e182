-- One row per block: its size, how many people it is about (members), how many values occur, how
-- many people have the most frequent one; how much probability moves from the release to the block
-- (moved, times size and people); the sum of n log2 n; the largest and the least ratio of a value's
-- people to its people in all, and these people in all; whether the gain of a value is beyond minus
-- the logarithm of its share in the release.
CREATE OR REPLACE VIEW grades AS
SELECT
    qid,
    any_value(blocks) AS blocks,
    any_value(size) AS size,
    coalesce(any_value(stand), any_value(size)) AS members,
    count(*) AS "values",
    max(people) AS mode,
    sum(greatest(0, people * whole_people - one * everybody * size))::HUGEINT AS moved,
    sum(people * log2(people)) AS logs,
    max(people / everybody) AS highest,
    arg_max(everybody, people / everybody) AS highest_everybody,
    min(people / everybody) AS lowest,
    arg_min(everybody, people / everybody) AS lowest_everybody,
    bool_or(gain > cap) AS beyond
FROM (
    SELECT
        sized.*,
        whole.people AS whole_people,
        whole.one AS one,
        sized.people * (whole.people / sized.everybody) / sized.size - 1 AS gain,
        -ln(sized.everybody / whole.people) AS cap
    FROM sized
    CROSS JOIN whole
) AS pieces_of_all
GROUP BY qid;
