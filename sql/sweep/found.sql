-- One row per state, question (0: whose record it is, else the number of a secret) and percent of
-- success, rounded half to even: its blocks, their people, how many of these the best guess is
-- right for, for how many it is certain; the smallest block, the fewest values, the worst chance.
CREATE OR REPLACE VIEW found AS
SELECT
    state,
    question,
    round_even(100 * mode / size, 0)::UTINYINT AS bin,
    sum(blocks)::BIGINT AS blocks,
    sum(size * blocks)::BIGINT AS people,
    sum(mode * blocks)::BIGINT AS mode,
    coalesce(sum(size * blocks) FILTER (WHERE mode = size), 0)::BIGINT AS certain,
    min(size)::BIGINT AS k,
    min("values")::BIGINT AS l,
    max(mode / size) AS worst_case
FROM kinds
GROUP BY ALL;
