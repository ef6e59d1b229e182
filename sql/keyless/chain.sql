-- Releases as tables: kinds of records, and how likely each follows another.

-- One row per observation that a release allows of a person who is in it, with its number, from 1;
-- what cannot be told from not being in the release is not here.
CREATE OR REPLACE VIEW sights AS
SELECT
    row_number() OVER () AS number,
    observed
FROM (SELECT DISTINCT observed FROM given WHERE NOT unseen) AS different;

-- One row per kind of record of a release (mine; some: of those in `sources`) and candidates alike
-- (theirs) in a later one, which agree in what must match exactly: the likelihood that the values of
-- the columns that may change follow. A value stayed all the time (rules.stay_i) or was drawn again
-- (rules.redraw_i), unless a table of moves says what follows it. Where candidates are kinds, also how
-- likely the values are of somebody who is new.
{# linked(columns=[1, 2], tables=[2], some=0, kinds=0), linked(columns=[1], tables=[], some=1, kinds=0), linked(columns=[1], tables=[], some=0, kinds=1) #}
CREATE OR REPLACE VIEW linked AS
SELECT
    mine.kind,
    theirs.kind AS other,
    {% if kinds %}
    mine.exact,
    theirs.exact_share {{ columns | each("* theirs.share_#") }} AS background,
    {% else %}
    theirs.sight,
    {% endif %}
    theirs.records,
    1.0::DOUBLE
    {% for i in columns %}
    {% if i in tables %}
    * moves_{{ i }}.probability
    {% else %}
    * (
        CASE WHEN mine.qid_{{ i }} IS NOT DISTINCT FROM theirs.qid_{{ i }} THEN rules.stay_{{ i }} ELSE 0.0::DOUBLE END
        + rules.redraw_{{ i }} * theirs.share_{{ i }}
    )
    {% endif %}
    {% endfor %}
        AS likelihood
FROM mine
JOIN theirs ON theirs.exact = mine.exact
CROSS JOIN rules
{% for i in tables %}
JOIN moves_{{ i }}
    ON moves_{{ i }}.before IS NOT DISTINCT FROM mine.qid_{{ i }}
        AND moves_{{ i }}.after IS NOT DISTINCT FROM theirs.qid_{{ i }}
{% endfor %}
{{ "SEMI JOIN sources ON sources.kind = mine.kind" if some }};

-- One row per kind of record and candidates alike in the next release: the likelihood of each of
-- them as a whole number, at least 1 for what is possible.
CREATE OR REPLACE VIEW weighed AS
SELECT
    kind,
    other,
    sight,
    records,
    greatest(1::HUGEINT, (likelihood * scale)::HUGEINT) AS weight
FROM linked
CROSS JOIN asked
WHERE likelihood > 0;

-- One row per kind of record that has candidates: their weight together, the largest weight of one,
-- how many kinds of them there are, the chance that the person is in the next release.
CREATE OR REPLACE VIEW totals AS
SELECT
    kind,
    sum(weight * records) AS total,
    max(weight) AS heaviest,
    count(*) AS spots,
    any_value(presence) AS presence,
    any_value(absence) AS absence
FROM weighed
CROSS JOIN asked
GROUP BY kind;

-- One row per tuple of columns that must match exactly, over all releases, with its number.
CREATE OR REPLACE VIEW exacts AS
SELECT
    row_number() OVER () AS number,
    exact
FROM (SELECT DISTINCT exact FROM matched) AS different;

-- One row per record of a release: the number of what must match exactly, what may drift (qid), and
-- the number of what is observed, 0 where that cannot be told from not being in the release.
CREATE OR REPLACE VIEW people AS
SELECT
    given.* EXCLUDE (exact, observed, unseen),
    exacts.number AS exact,
    coalesce(sights.number, 0) AS sight
FROM given
JOIN exacts ON exacts.exact IS NOT DISTINCT FROM given.exact
LEFT JOIN sights ON sights.observed IS NOT DISTINCT FROM given.observed;

-- One row per kind of record of a release, alike in all that links tell apart: its number, and how
-- many records it has.
CREATE OR REPLACE VIEW kinds AS
SELECT
    row_number() OVER () + beginning AS kind,
    exact,
    qid,
    records
FROM (SELECT exact, qid, count(*) AS records FROM people GROUP BY exact, qid) AS alike
CROSS JOIN numbering;

-- One row per kind of record: also the shares of the records of its release with its value of each
-- column that may change, and with its values of those that must match exactly.
{# kinds_with_shares(drift=[1, 2]), kinds_with_shares(drift=[]) #}
CREATE OR REPLACE VIEW kinds_with_shares AS
SELECT
    *,
    {{ drift | each("sum(records) OVER (PARTITION BY qid_#)::DOUBLE / sum(records) OVER ()::DOUBLE AS share_#,") }}
    sum(records) OVER (PARTITION BY exact)::DOUBLE / sum(records) OVER ()::DOUBLE AS exact_share
FROM kinds;

-- One row per record of the focal release: its kind, its observation, its secrets, its key.
CREATE OR REPLACE VIEW placed AS
SELECT
    people.*,
    kinds.kind
FROM people
JOIN kinds ON kinds.exact = people.exact AND kinds.qid IS NOT DISTINCT FROM people.qid;

-- One row per observation of the focal release and kind of record: how many records.
CREATE OR REPLACE VIEW crowd AS
SELECT
    sight AS first_sight,
    kind,
    count(*) AS records
FROM placed
GROUP BY sight, kind;

-- One row per observation of the focal release, kind of record and secret: how many records. The
-- column of any secret is called `secret` here.
CREATE OR REPLACE VIEW secret_crowd AS
SELECT
    sight AS first_sight,
    kind,
    secret AS secret,
    count(*) AS records
FROM placed
GROUP BY sight, kind, secret;

-- One row per observation of the focal release, kind of record and reported secret: how many records.
CREATE OR REPLACE VIEW reported_crowd AS
SELECT
    first_sight,
    kind,
    secret,
    records
FROM secret_crowd
WHERE secret IS NOT NULL;

-- One row per observation of the focal release, kind of record and one of two values: how many
-- records. Those that report the secret have both, the others none, so that there is one value only
-- where nobody reports it.
CREATE OR REPLACE VIEW doubled_crowd AS
SELECT
    first_sight,
    kind,
    secret,
    sum(records)::BIGINT AS records
FROM (
    SELECT
        first_sight,
        kind,
        records,
        unnest(CASE WHEN secret IS NULL THEN [NULL] ELSE [0, 1] END) AS secret
    FROM secret_crowd
) AS doubled
GROUP BY first_sight, kind, secret;

-- One row per kind of record and observation: how many records of the kind are observed so.
CREATE OR REPLACE VIEW spots AS
SELECT
    kinds.* EXCLUDE (records),
    sighted.sight,
    sighted.records
FROM (
    SELECT
        exact,
        qid,
        sight,
        count(*) AS records
    FROM people
    GROUP BY exact, qid, sight
) AS sighted
JOIN kinds ON kinds.exact = sighted.exact AND kinds.qid IS NOT DISTINCT FROM sighted.qid;

-- One row: how many pairs of kinds must be compared, those that match exactly.
CREATE OR REPLACE VIEW explosion AS
SELECT coalesce(sum(mine.kinds * theirs.spots), 0)::BIGINT AS pairs
FROM (SELECT exact, count(*) AS kinds FROM kinds GROUP BY exact) AS mine
JOIN (SELECT exact, count(*) AS spots FROM spots GROUP BY exact) AS theirs
    ON theirs.exact = mine.exact;

-- One row: how many pairs of kinds would be compared if the column `own` matched exactly, too.
CREATE OR REPLACE VIEW explosion_without_drift AS
SELECT coalesce(sum(mine.kinds * theirs.spots), 0)::BIGINT AS pairs
FROM (SELECT exact, own, count(*) AS kinds FROM kinds GROUP BY exact, own) AS mine
JOIN (SELECT exact, own, count(*) AS spots FROM spots GROUP BY exact, own) AS theirs
    ON theirs.exact = mine.exact AND theirs.own IS NOT DISTINCT FROM mine.own;

-- One row per kind of record (some: of those in `sources`) and candidates alike in the next release:
-- the weight that is left to each of them by all others who claim it, at least 1.
{# matched(some=0), matched(some=1) #}
CREATE OR REPLACE VIEW matched AS
SELECT
    offers.kind,
    offers.other,
    spots.sight,
    spots.records,
    offers.weight
FROM offers
JOIN spots ON spots.kind = offers.other
{{ "SEMI JOIN sources ON sources.kind = offers.kind" if some }};
