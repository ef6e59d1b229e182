-- One row: how many pairs of kinds are looked at for people who are not settled.
CREATE OR REPLACE VIEW open_pairs AS
SELECT coalesce(sum(totals.spots), 0)::BIGINT AS pairs
FROM (SELECT DISTINCT kind FROM open_crowd) AS open_kinds
JOIN totals ON totals.kind = open_kinds.kind;
