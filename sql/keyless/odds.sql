-- One row per kind of record and kind of candidates for it: how likely a pair of them is one person,
-- against the person having left and the record being of somebody new.
CREATE OR REPLACE VIEW odds AS
SELECT
    exact,
    kind,
    other,
    least(
        greatest(flows.odds * (likelihood / background), 2.0::DOUBLE ** -300), 2.0::DOUBLE ** 900
    ) AS odds
FROM linked
CROSS JOIN flows
WHERE likelihood > 0;
