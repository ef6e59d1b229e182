-- One row per target: what must be carried over all edges of the secret's hierarchy to make one
-- distribution the other.
CREATE OR REPLACE VIEW flows AS
SELECT
    target,
    sum(abs(flow))::DOUBLE / 1152921504606846976 AS distance
FROM (
    SELECT
        gaps.target,
        edges.node,
        sum(floor((gaps.before - gaps.behind) * 1152921504606846976)::HUGEINT) AS flow
    FROM gaps JOIN edges ON gaps.secret = edges.secret
    GROUP BY gaps.target, edges.node
) AS flowing
GROUP BY target;
