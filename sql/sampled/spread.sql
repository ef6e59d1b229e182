-- One row per size of a block and risk of its people in percent, halves rounded to even: how many
-- such blocks there are, how many of them are all of the population's block, and, in 2^60 parts of
-- one, their risks and their shares of the population's blocks, together. Whole numbers add up to
-- the same whatever their order.
CREATE OR REPLACE VIEW spread AS
SELECT
    size,
    round_even(100 * risk, 0)::INTEGER AS bin,
    sum(blocks)::BIGINT AS blocks,
    coalesce(sum(blocks) FILTER (WHERE share >= 1), 0)::BIGINT AS complete,
    sum(blocks * round(risk * 1152921504606846976)::HUGEINT) AS risks,
    sum(blocks * round(share * 1152921504606846976)::HUGEINT) AS shares,
    max(risk) AS highest
FROM chances
GROUP BY ALL;
