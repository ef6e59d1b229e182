-- What one release alone tells of a person, and what the adversary gains from linked releases.

-- One row, if there is such an observation: its number.
CREATE OR REPLACE VIEW sighted AS
SELECT sights.number
FROM sights
JOIN wanted ON wanted.observed IS NOT DISTINCT FROM sights.observed;

-- One row: how many records a crowd has, of the most frequent secret, and how many secrets there are.
CREATE OR REPLACE VIEW secret_counts AS
SELECT
    coalesce(sum(records), 0)::BIGINT AS records,
    max(records)::BIGINT AS most,
    count(*) AS secrets
FROM (SELECT secret, sum(records) AS records FROM secret_crowd GROUP BY secret) AS counted;

-- One row per kind of record and what may become of it: candidates alike in the next release, or
-- nobody (missed is 1, and the record stays what was last seen of the person).
CREATE OR REPLACE VIEW ways AS
SELECT
    kind,
    other,
    sight,
    weight,
    missed
FROM (
    SELECT
        kind,
        other,
        sight,
        weight * records AS weight,
        0 AS missed
    FROM weighed
    CROSS JOIN asked
    WHERE asked.presence > 0
    UNION ALL
    SELECT
        states.kind,
        states.kind AS other,
        0 AS sight,
        0::HUGEINT AS weight,
        1 AS missed
    FROM (SELECT DISTINCT kind FROM states) AS states
    LEFT JOIN totals ON totals.kind = states.kind
    WHERE totals.absence > 0 OR totals.kind IS NULL
) AS every;

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

-- One row per state and what is seen in the last release: the weight of what leads there.
CREATE OR REPLACE VIEW departures AS
SELECT
    states.source,
    states.seen,
    ways.sight,
    states.kind,
    any_value(states.mass) AS mass,
    any_value(totals.total) AS total,
    any_value(totals.presence) AS presence,
    any_value(totals.absence) AS absence,
    sum(ways.weight) AS gathered,
    max(ways.missed) AS missed
FROM states
JOIN ways ON ways.kind = states.kind
LEFT JOIN totals ON totals.kind = states.kind
GROUP BY states.source, states.seen, states.kind, ways.sight;

-- One row per kind of record of which it is known how many observations of the next release are
-- possible after it: all of its candidates are possible, or each is observed differently.
CREATE OR REPLACE VIEW countable AS
SELECT
    kinds.kind,
    CASE
        WHEN totals.kind IS NULL THEN 1
        WHEN totals.spots = around.spots
            THEN around.sights + (totals.absence > 0 AND NOT around.like_nobody)::BIGINT
        ELSE totals.spots + (totals.absence > 0)::BIGINT
    END AS observations
FROM kinds
LEFT JOIN totals ON totals.kind = kinds.kind
LEFT JOIN (
    SELECT
        exact,
        count(*) AS spots,
        count(DISTINCT sight) AS sights,
        min(sight) = 0 AS like_nobody
    FROM spots
    GROUP BY exact
) AS around ON around.exact = kinds.exact
CROSS JOIN asked
WHERE asked.presence > 0
    AND (
        totals.kind IS NULL
        OR totals.spots = around.spots
        OR (around.spots = around.sights AND NOT around.like_nobody)
    );

-- One row per observation of the focal release that only one kind of record gives: no later release
-- tells these people apart, so that they need not be followed. How many observations there are
-- later.
CREATE OR REPLACE VIEW settled AS
SELECT
    crowd.first_sight,
    any_value(countable.observations) AS observations
FROM crowd
LEFT JOIN countable ON countable.kind = crowd.kind
GROUP BY crowd.first_sight
HAVING count(*) = 1 AND count(countable.kind) = 1;

-- One row per observation of the focal release that is not settled and kind of record.
CREATE OR REPLACE VIEW open_crowd AS
SELECT *
FROM crowd
ANTI JOIN settled ON settled.first_sight = crowd.first_sight;

-- One row: how many pairs of kinds are looked at for people who are not settled.
CREATE OR REPLACE VIEW open_pairs AS
SELECT coalesce(sum(totals.spots), 0)::BIGINT AS pairs
FROM (SELECT DISTINCT kind FROM open_crowd) AS open_kinds
JOIN totals ON totals.kind = open_kinds.kind;

-- One row per settled observation: the records with it, the most that a guess can get right, how
-- many records may be meant, and how many observations there are later.
CREATE OR REPLACE VIEW settled_blocks AS
SELECT
    crowd.first_sight,
    sum(crowd.records)::BIGINT AS records,
    1::BIGINT AS most,
    sum(crowd.records)::BIGINT AS possible,
    any_value(settled.observations) AS observations
FROM crowd
JOIN settled ON settled.first_sight = crowd.first_sight
GROUP BY crowd.first_sight;

-- One row per settled observation: the records with it, those with its likeliest secret, how many
-- secrets may be meant, and how many observations there are later.
CREATE OR REPLACE VIEW settled_secrets AS
SELECT
    secret_crowd.first_sight,
    sum(secret_crowd.records)::BIGINT AS records,
    max(secret_crowd.records) AS most,
    count(*) AS possible,
    any_value(settled.observations) AS observations
FROM secret_crowd
JOIN settled ON settled.first_sight = secret_crowd.first_sight
GROUP BY secret_crowd.first_sight;

-- One row with the columns of success about the settled observations.
CREATE OR REPLACE VIEW settled_success AS
SELECT
    coalesce(sum(observations), 0)::BIGINT AS observations,
    coalesce(sum(records), 0) * any_value(unit) AS total,
    coalesce(sum(most), 0) * any_value(unit) AS most,
    coalesce(sum(records) FILTER (WHERE possible = 1), 0) * any_value(unit) AS certain,
    coalesce(sum(observations) FILTER (WHERE possible = 1), 0)::BIGINT AS revealing,
    max(most::DOUBLE / records::DOUBLE) AS worst_case,
    coalesce(sum(possible * observations), 0)::BIGINT AS possible
FROM settled_blocks
CROSS JOIN asked;

-- One row per arrival: its chance, in parts of one record of the focal release.
CREATE OR REPLACE VIEW chances AS
SELECT
    source,
    seen,
    sight,
    kind,
    greatest(
        1::HUGEINT,
        CASE
            WHEN total IS NULL THEN mass
            ELSE (
                mass::DOUBLE
                * (presence * (gathered::DOUBLE / total::DOUBLE) + missed * absence)
            )::HUGEINT
        END
    ) AS mass
FROM arrivals;

-- One row per kind of record of the focal release, what was seen since, and the kind of the record
-- that was last seen: the chance of that.
CREATE OR REPLACE VIEW stages AS
SELECT
    source,
    min(numbered) OVER (PARTITION BY seen, sight) AS seen,
    kind,
    mass
FROM (
    SELECT
        source,
        seen,
        sight,
        kind,
        sum(mass) AS mass,
        row_number() OVER () AS numbered
    FROM chances
    GROUP BY source, seen, sight, kind
) AS reached;

-- One row per kind of record of the focal release and all that is seen later: the chance of that.
CREATE OR REPLACE VIEW endings AS
SELECT
    source,
    seen,
    sight,
    sum(mass) AS mass
FROM chances
GROUP BY source, seen, sight;

-- One row per observation of all releases: its chance, that of the likeliest record, and how many
-- records it may be.
CREATE OR REPLACE VIEW observations AS
SELECT
    crowd.first_sight,
    endings.seen,
    endings.sight,
    sum(crowd.records * endings.mass) AS total,
    max(endings.mass) AS most,
    sum(crowd.records) AS possible
FROM crowd
JOIN endings ON endings.source = crowd.kind
GROUP BY crowd.first_sight, endings.seen, endings.sight;

-- One row per observation of all releases and secret that is possible with it: its chance.
CREATE OR REPLACE VIEW shares AS
SELECT
    secret_crowd.first_sight,
    endings.seen,
    endings.sight,
    secret_crowd.secret,
    sum(secret_crowd.records * endings.mass) AS mass
FROM secret_crowd
JOIN endings ON endings.source = secret_crowd.kind
GROUP BY secret_crowd.first_sight, endings.seen, endings.sight, secret_crowd.secret;

-- One row per observation of all releases: its chance, that of the likeliest secret, and how many
-- secrets are possible.
CREATE OR REPLACE VIEW secret_observations AS
SELECT
    first_sight,
    seen,
    sight,
    sum(mass) AS total,
    max(mass) AS most,
    count(*) AS possible
FROM shares
GROUP BY first_sight, seen, sight;

-- One row: how many observations there are, the chance of all of them, of the best guesses, and of
-- those that leave no doubt, how many these are, the largest chance of a best guess, and how many
-- records (or secrets) each may be, over all of them.
CREATE OR REPLACE VIEW success AS
SELECT
    count(*) AS observations,
    sum(total) AS total,
    sum(most) AS most,
    coalesce(sum(total) FILTER (WHERE possible = 1), 0) AS certain,
    count(*) FILTER (WHERE possible = 1) AS revealing,
    max(most::DOUBLE / total::DOUBLE) AS worst_case,
    coalesce(sum(possible), 0)::BIGINT AS possible
FROM observations;
