-- One row per part of a sample (0: everybody), state, question and percent of one pass: the sums
-- over all tasks.
CREATE OR REPLACE VIEW everything_found AS
SELECT
    part,
    state,
    question,
    bin * getvariable('with_bins') AS bin,
    sum(blocks)::BIGINT AS blocks,
    sum(people)::BIGINT AS people,
    sum(mode)::BIGINT AS mode,
    sum(certain)::BIGINT AS certain,
    min(k) AS k,
    min(l) AS l,
    max(worst_case) AS worst_case
FROM found
WHERE pass = getvariable('pass')
GROUP BY ALL;
