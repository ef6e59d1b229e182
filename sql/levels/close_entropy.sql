-- One row per block whose entropy is close to the least one, or to the one that is wanted.
CREATE OR REPLACE VIEW close_entropy AS
SELECT of_l_entropy.*
FROM of_l_entropy
CROSS JOIN bounds
WHERE of_l_entropy.score BETWEEN bounds.low AND bounds.high
    OR of_l_entropy.score >= bounds.edge;
