-- One row per kind of record and kind of candidates for it: how likely a pair of them is one person,
-- against the person having left and the record being of somebody new.
CREATE OR REPLACE VIEW odds AS
SELECT
    exact,
    kind,
    other,
    staying / leaving * (likelihood / (newcomers * background)) AS odds
FROM linked
CROSS JOIN flows
WHERE likelihood > 0;
