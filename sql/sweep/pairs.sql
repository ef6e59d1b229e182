-- One row per row found in one pass, in a state in which nothing is open (percent 0 where bins are
-- not wanted). A pair in which something is open stays a pair where none of it is taken; where some
-- of it is, it is two people alone.
CREATE OR REPLACE VIEW pairs AS
SELECT *
FROM (
    SELECT
        part,
        drop_open(state) AS state,
        question,
        bin * getvariable('with_bins') AS bin,
        blocks,
        people,
        mode,
        certain,
        k,
        l,
        worst_case
    FROM found
    WHERE pass = getvariable('pass')
    UNION ALL
    SELECT
        part,
        joined(
            known(state) | bit | (open(state) & ~(2 * bit - 1)),
            undecided(state) & ~(open(state) & (2 * bit - 1))
        ) AS state,
        question,
        100::UTINYINT * getvariable('with_bins') AS bin,
        people AS blocks,
        people,
        people AS mode,
        people AS certain,
        1 AS k,
        1 AS l,
        1.0::DOUBLE AS worst_case
    FROM (
        SELECT
            *,
            unnest(list_filter(getvariable('bits'), lambda b: (open(state) & b) <> 0)) AS bit
        FROM found
        WHERE pass = getvariable('pass') AND open(state) <> 0
    ) AS parting
) AS kinds;
