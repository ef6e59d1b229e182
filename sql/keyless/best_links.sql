-- One row per chance of the best link of a record: how many records have it, and how many of their
-- best links are right, of several that are equally good a share each.
CREATE OR REPLACE VIEW best_links AS
SELECT
    chance,
    ties,
    count(*) AS records,
    count(*) FILTER (WHERE found) AS hits
FROM (
    SELECT
        totals.presence * (totals.heaviest::DOUBLE / totals.total::DOUBLE) AS chance,
        tied.ties,
        coalesce(truth.weight = totals.heaviest, false) AS found
    FROM mine
    JOIN totals ON totals.kind = mine.kind
    JOIN tied ON tied.kind = mine.kind
    LEFT JOIN theirs ON theirs.key = mine.key
    LEFT JOIN paired AS truth ON truth.kind = mine.kind AND truth.other = theirs.kind
) AS linked
GROUP BY chance, ties;
