-- Stay probabilities learned from the data, and how often the best links are right.

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

-- One row per record of a release whose person is known by a key or, without one (keyed: 0), by what
-- must match exactly, where nobody else has that: the value of a column that may change (`own`).
{# identified(keyed=0), identified(keyed=1) #}
CREATE OR REPLACE VIEW identified AS
SELECT
    {% if keyed %}
    key,
    own AS value
    {% else %}
    exact AS key,
    any_value(own) AS value
    {% endif %}
FROM people
{% if not keyed %}
GROUP BY exact
HAVING count(*) = 1
{% endif %};

-- One row about a column that may change (`own`): the pairs of records of one person, how many of them
-- have one value, how many records of the later release have the earlier value, over all pairs, and
-- how many records that release has.
CREATE OR REPLACE VIEW stays AS
SELECT
    count(*) AS pairs,
    count(*) FILTER (WHERE mine.value IS NOT DISTINCT FROM theirs.value) AS same,
    coalesce(sum(frequencies.records), 0)::HUGEINT AS alike,
    (SELECT count(*) FROM everybody) AS others
FROM mine
JOIN theirs ON theirs.key = mine.key
LEFT JOIN (SELECT own, count(*) AS records FROM everybody GROUP BY own) AS frequencies
    ON frequencies.own IS NOT DISTINCT FROM mine.value;

-- One row per record of a release: its key, and its kind.
CREATE OR REPLACE VIEW kinds_by_key AS
SELECT
    people.key,
    kinds.kind
FROM people
JOIN kinds ON kinds.exact = people.exact AND kinds.qid IS NOT DISTINCT FROM people.qid;

-- One row per kind of record: how many candidates have the largest weight.
CREATE OR REPLACE VIEW tied AS
SELECT
    weighed.kind,
    sum(weighed.records)::BIGINT AS ties
FROM weighed
JOIN totals ON totals.kind = weighed.kind AND totals.heaviest = weighed.weight
GROUP BY weighed.kind;

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

-- One row per kind of record with candidates: the chance that the best link from it is right.
CREATE OR REPLACE VIEW last_prospects AS
SELECT
    kind,
    presence * (heaviest::DOUBLE / total::DOUBLE) AS prospect
FROM totals;

-- One row per kind of record: the chance that the best chain of links from it on is right.
CREATE OR REPLACE VIEW prospects AS
SELECT
    weighed.kind,
    max(totals.presence * (weighed.weight::DOUBLE / totals.total::DOUBLE) * later.prospect) AS prospect
FROM weighed
JOIN totals ON totals.kind = weighed.kind
JOIN later ON later.kind = weighed.other
GROUP BY weighed.kind;

-- One row: the chance that the best link is right, summed over records, and how many have one.
CREATE OR REPLACE VIEW vulnerability AS
SELECT
    coalesce(sum((prospects.prospect * unit)::HUGEINT * kinds.records), 0) AS mass,
    coalesce(sum(kinds.records), 0)::BIGINT AS records
FROM prospects
JOIN kinds ON kinds.kind = prospects.kind
CROSS JOIN asked;
