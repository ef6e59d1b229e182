-- One row per kind of record and kind of the same person's record in the next release, if the rules
-- allow that: its weight.
CREATE OR REPLACE VIEW paired AS
SELECT DISTINCT
    weighed.kind,
    weighed.other,
    weighed.weight
FROM weighed
JOIN (
    SELECT DISTINCT
        mine.kind,
        theirs.kind AS other
    FROM mine
    JOIN theirs ON theirs.key = mine.key
) AS pairs ON pairs.kind = weighed.kind AND pairs.other = weighed.other;
