-- One row per state and what may be seen next, with where it leads: the weight of what leads there.
CREATE OR REPLACE VIEW arrivals AS
SELECT
    states.source,
    states.seen,
    ways.sight,
    ways.other AS kind,
    any_value(states.mass) AS mass,
    any_value(totals.total) AS total,
    any_value(totals.presence) AS presence,
    any_value(totals.absence) AS absence,
    sum(ways.weight) AS gathered,
    max(ways.missed) AS missed
FROM states
JOIN ways ON ways.kind = states.kind
LEFT JOIN totals ON totals.kind = states.kind
GROUP BY states.source, states.seen, states.kind, ways.sight, ways.other;
