-- One row per kind of record with candidates: the largest offer, and the weight of being in no later
-- release where the best candidate weighs 1; 0 where that is impossible.
CREATE OR REPLACE VIEW leavers AS
SELECT
    kind,
    max(message) AS best,
    CASE WHEN 1 / max(message) < any_value(flows.impossible) THEN 0.0::DOUBLE ELSE 1 / max(message) END
        AS nobody
FROM gathered
CROSS JOIN flows
GROUP BY kind;
