-- One row: the blocks whose entropy is clearly less than what is wanted, and the people in them.
CREATE OR REPLACE VIEW clearly AS
SELECT
    coalesce(sum(of_l_entropy.blocks), 0)::BIGINT AS blocks,
    coalesce(sum(of_l_entropy.blocks * of_l_entropy.members), 0)::BIGINT AS people
FROM of_l_entropy
CROSS JOIN bounds
WHERE of_l_entropy.score > bounds.high;
