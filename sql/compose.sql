-- Several sanitised releases together: where people lie in each, which secrets are left.

-- One row per value of the secret in some release: its number, in the order of the values.
{# secret_values(releases=[1, 2]) #}
CREATE OR REPLACE VIEW secret_values AS
SELECT
    secret,
    row_number() OVER (ORDER BY secret ASC NULLS LAST) AS code
FROM (
    SELECT DISTINCT secret
    FROM ({{ releases | each("SELECT secret FROM counted_#", " UNION ALL ") }}) AS every
) AS different;

-- One row per person: the combination of raw values, the true secret, the key.
{# everybody(qids=[1, 2], key=True), everybody(qids=[1], key=False) #}
CREATE OR REPLACE VIEW everybody AS
SELECT
    points.point,
    coded.position,
    {% if key %}
    coded.key,
    {% endif %}
    coded.truth
FROM coded INNER JOIN points {{ qids | using("place") }};

-- One row per different row of a release: the number of its secret, its cells, how often it occurs,
-- and whether all cells stand for everything.
{# coded_release(qids=[1, 2]) #}
CREATE OR REPLACE VIEW coded_release AS
SELECT
    secret_values.code AS secret,
    counted.records,
    {{ qids | each("spans_#.id AS id_#,") }}
    {{ qids | each("spans_#.everything", " AND ") }} AS suppressed
FROM counted
INNER JOIN secret_values ON counted.secret IS NOT DISTINCT FROM secret_values.secret
{% for i in qids %}
INNER JOIN cells_{{ i }} ON counted.cell_{{ i }} IS NOT DISTINCT FROM cells_{{ i }}.cell
INNER JOIN spans_{{ i }} ON cells_{{ i }}.id = spans_{{ i }}.id
{% endfor %};

-- One row per class of a release: its cells, and how many records have them.
{# classes(qids=[1, 2]) #}
CREATE OR REPLACE VIEW classes AS
SELECT
    row_number() OVER () AS class,
    {{ qids | each("id_#,") }}
    sum(records)::BIGINT AS records
FROM coded
WHERE NOT suppressed
GROUP BY {{ qids | each("id_#", ", ") }};

-- One row per class and value of the secret: how many records of the class have it.
{# class_secrets(qids=[1, 2]) #}
CREATE OR REPLACE VIEW class_secrets AS
SELECT
    classes.class,
    coded.secret,
    sum(coded.records)::BIGINT AS records
FROM coded INNER JOIN classes {{ qids | using("id") }}
WHERE NOT coded.suppressed
GROUP BY classes.class, coded.secret;

-- One row per value of the secret of suppressed records, whose cells all stand for everything: how
-- many have it.
CREATE OR REPLACE VIEW suppressed_secrets AS
SELECT
    secret,
    sum(records)::BIGINT AS records
FROM coded
WHERE suppressed
GROUP BY secret;

-- One row per person's values: the classes of one release in which they lie, in order; none where
-- there is no such class.
CREATE OR REPLACE VIEW reached AS
SELECT
    points.point,
    coalesce(list(found.class ORDER BY found.class) FILTER (WHERE found.class IS NOT NULL), []) AS classes
FROM points LEFT JOIN found ON points.point = found.point
GROUP BY points.point;

-- One row per combination of classes in which somebody lies, a spot.
CREATE OR REPLACE VIEW spots AS
SELECT
    row_number() OVER () AS spot,
    classes
FROM (SELECT DISTINCT classes FROM reached) AS different;

-- One row per spot and value of the secret there: how many records of its classes have it.
-- Suppressed records may be anybody's, so they are in every spot, where they count at all.
CREATE OR REPLACE VIEW spot_secrets AS
SELECT
    spot,
    secret,
    sum(records)::BIGINT AS records
FROM (
    SELECT
        standing.spot,
        class_secrets.secret,
        class_secrets.records
    FROM (SELECT spot, unnest(classes) AS class FROM spots) AS standing
    INNER JOIN class_secrets ON standing.class = class_secrets.class
    UNION ALL
    SELECT
        spots.spot,
        suppressed_secrets.secret,
        suppressed_secrets.records
    FROM spots CROSS JOIN suppressed_secrets
) AS every
GROUP BY spot, secret;

-- One row per spot with records: how many there are, how many values of the secret they have (the
-- effective anonymity), how many have the most frequent one.
CREATE OR REPLACE VIEW spot_sizes AS
SELECT
    spot,
    sum(records)::BIGINT AS size,
    count(*) AS effective,
    max(records) AS best
FROM spot_secrets
GROUP BY spot;

-- One row with nothing known, before the first release.
CREATE OR REPLACE VIEW told_first AS
SELECT
    0::BIGINT AS alike,
    []::BIGINT[] AS sizes,
    []::BIGINT[] AS effectives,
    []::BIGINT[] AS bests,
    0::BIGINT AS prior,
    0::BIGINT AS prior_best,
    1::BIGINT AS prior_size;

-- One row per combination of places that people have: the spot where they lie in one release, in how
-- many classes that is, and whether they are the nearest ones, because none contains these values.
CREATE OR REPLACE VIEW whereabouts AS
SELECT
    points.point,
    spots.spot,
    len(spots.classes) AS classes,
    release_points.point IN (SELECT point FROM nearest) AS is_nearest
FROM points
INNER JOIN release_points ON each(points.place = release_points.place)
INNER JOIN reached ON release_points.point = reached.point
INNER JOIN spots ON reached.classes = spots.classes;

-- One row about one release: how many records it has, in how many classes, how many are in the
-- smallest one, how many are suppressed, how many have the most frequent value of the secret.
CREATE OR REPLACE VIEW extent AS
SELECT
    (in_classes.records + gone.records)::BIGINT AS records,
    in_classes.classes,
    in_classes.smallest_class,
    gone.records AS suppressed,
    most.records AS most_frequent
FROM (
    SELECT
        count(*) AS classes,
        coalesce(sum(records), 0)::BIGINT AS records,
        min(records) AS smallest_class
    FROM classes
) AS in_classes
CROSS JOIN (SELECT coalesce(sum(records), 0)::BIGINT AS records FROM suppressed_secrets) AS gone
CROSS JOIN (
    SELECT max(records) AS records
    FROM (
        SELECT sum(records)::BIGINT AS records
        FROM (
            SELECT secret, records FROM class_secrets
            UNION ALL
            SELECT secret, records FROM suppressed_secrets
        ) AS every
        GROUP BY secret
    ) AS summed
) AS most;

-- One row per record of a person in one release that is in a class there: the person, and the class.
{# own_classes(qids=[1, 2]) #}
CREATE OR REPLACE VIEW own_classes AS
SELECT
    everybody.position,
    everybody.point,
    classes.class
FROM everybody
INNER JOIN keyed ON everybody.key = keyed.key
{% for i in qids %}
INNER JOIN cells_{{ i }} ON keyed.cell_{{ i }} IS NOT DISTINCT FROM cells_{{ i }}.cell
{% endfor %}
INNER JOIN classes ON {{ qids | each("cells_#.id = classes.id_#", " AND ") }};

-- One row: how many people are located where their own record is (of several classes, in one of them),
-- and how many of these by the nearest class.
CREATE OR REPLACE VIEW correctness AS
SELECT
    count(*) AS rightly_located,
    count(*) FILTER (WHERE is_nearest) AS rightly_nearest
FROM (
    SELECT DISTINCT
        own_classes.position,
        whereabouts.is_nearest
    FROM own_classes
    INNER JOIN whereabouts ON own_classes.point = whereabouts.point
    INNER JOIN spots ON whereabouts.spot = spots.spot
    WHERE list_contains(spots.classes, own_classes.class)
) AS found_people;

-- One row: how many people are in no class of one release, in one, in several; how many of these are
-- located by the nearest class; how many are in none but may be among its suppressed records.
CREATE OR REPLACE VIEW finding AS
SELECT
    coalesce(sum(crowd.people) FILTER (WHERE spot_sizes.spot IS NULL), 0)::BIGINT AS nowhere,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.classes = 1), 0)::BIGINT AS in_one,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.classes > 1), 0)::BIGINT AS in_several,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.is_nearest), 0)::BIGINT AS by_nearest,
    coalesce(sum(crowd.people) FILTER (WHERE whereabouts.classes = 0 AND spot_sizes.spot IS NOT NULL), 0)::BIGINT AS only_suppressed
FROM crowd
INNER JOIN whereabouts ON crowd.point = whereabouts.point
LEFT JOIN spot_sizes ON whereabouts.spot = spot_sizes.spot;

-- One row per combination of spots in the releases so far: those before, the spot in the last one,
-- and how many people stand there.
CREATE OR REPLACE VIEW standing AS
SELECT
    row_number() OVER () AS alike,
    earlier,
    spot,
    people
FROM (
    SELECT
        at_before.alike AS earlier,
        whereabouts.spot,
        sum(at_before.people)::BIGINT AS people
    FROM at_before
    INNER JOIN whereabouts ON at_before.point = whereabouts.point
    INNER JOIN spot_sizes ON whereabouts.spot = spot_sizes.spot
    GROUP BY at_before.alike, whereabouts.spot
) AS together;

-- One row per person's values that lie somewhere in every release so far: where.
CREATE OR REPLACE VIEW at_now AS
SELECT
    at_before.point,
    at_before.people,
    standing.alike
FROM at_before
INNER JOIN whereabouts ON at_before.point = whereabouts.point
INNER JOIN standing ON at_before.alike = standing.earlier AND whereabouts.spot = standing.spot;

-- One row per combination of spots and value of the secret that is in all of them: the product of
-- its frequencies.
CREATE OR REPLACE VIEW shared AS
SELECT
    standing.alike,
    spot_secrets.secret,
    shared_before.weight * spot_secrets.records AS weight
FROM standing
INNER JOIN shared_before ON standing.earlier = shared_before.alike
INNER JOIN spot_secrets
    ON standing.spot = spot_secrets.spot AND shared_before.secret = spot_secrets.secret;

-- One row per combination of spots and value of the secret that is there: with which frequency.
CREATE OR REPLACE VIEW shared_first AS
SELECT
    standing.alike,
    spot_secrets.secret,
    spot_secrets.records::HUGEINT AS weight
FROM standing INNER JOIN spot_secrets ON standing.spot = spot_secrets.spot;

-- One row per combination of spots: its people; sizes, values and largest counts in each release;
-- the fewest values in one (prior), the best chance in one (prior_best of prior_size); how many
-- values are in all (posterior), with the largest and the sum of the products of frequencies.
CREATE OR REPLACE VIEW told AS
SELECT
    standing.alike,
    standing.people,
    list_append(told_before.sizes, spot_sizes.size) AS sizes,
    list_append(told_before.effectives, spot_sizes.effective) AS effectives,
    list_append(told_before.bests, spot_sizes.best) AS bests,
    CASE
        WHEN told_before.prior = 0 THEN spot_sizes.effective
        ELSE least(told_before.prior, spot_sizes.effective)
    END AS prior,
    CASE
        WHEN spot_sizes.best::HUGEINT * told_before.prior_size
            > told_before.prior_best::HUGEINT * spot_sizes.size THEN spot_sizes.best
        ELSE told_before.prior_best
    END AS prior_best,
    CASE
        WHEN spot_sizes.best::HUGEINT * told_before.prior_size
            > told_before.prior_best::HUGEINT * spot_sizes.size THEN spot_sizes.size
        ELSE told_before.prior_size
    END AS prior_size,
    coalesce(met.posterior, 0) AS posterior,
    met.best,
    met.total
FROM standing
INNER JOIN told_before ON standing.earlier = told_before.alike
INNER JOIN spot_sizes ON standing.spot = spot_sizes.spot
LEFT JOIN (
    SELECT
        alike,
        count(*) AS posterior,
        max(weight) AS best,
        sum(weight)::HUGEINT AS total
    FROM shared
    GROUP BY alike
) AS met ON standing.alike = met.alike;

-- One row per release: sums over the people who lie somewhere in every one, without contradiction.
CREATE OR REPLACE VIEW by_release AS
SELECT
    release,
    sum(people * size)::BIGINT AS size,
    sum(people * effective)::BIGINT AS effective,
    coalesce(sum(people) FILTER (WHERE effective > posterior), 0)::BIGINT AS vulnerable,
    coalesce(sum(people) FILTER (WHERE effective = 1), 0)::BIGINT AS breached
FROM (
    SELECT
        people,
        posterior,
        unnest(sizes) AS size,
        unnest(effectives) AS effective,
        generate_subscripts(sizes, 1) AS release
    FROM told
    WHERE posterior > 0
) AS each_release
GROUP BY release
ORDER BY release;

-- One row per denominator of chances of the best guess: from all releases together (release 0),
-- from each alone (from 1), from the one that tells most (-1); the sum of numerators over people.
CREATE OR REPLACE VIEW chances AS
SELECT
    release,
    total // gcd(best, total) AS denominator,
    sum(people * (best // gcd(best, total)))::HUGEINT AS numerator
FROM (
    SELECT people, posterior, 0 AS release, best, total FROM told
    UNION ALL
    SELECT people, posterior, -1, prior_best, prior_size FROM told
    UNION ALL
    SELECT
        people, posterior, generate_subscripts(bests, 1), unnest(bests), unnest(sizes)
    FROM told
) AS guesses
WHERE posterior > 0
GROUP BY release, denominator;

-- One row per level of confidence, a fraction: how many people stand in how small a set of values,
-- before (in the one release that tells most) and after, and how many are guessed with that chance.
CREATE OR REPLACE VIEW curve AS
SELECT
    levels.level,
    coalesce(sum(sets.people) FILTER (WHERE sets.prior * levels.numerator <= levels.denominator), 0)::BIGINT AS before,
    coalesce(sum(sets.people) FILTER (WHERE sets.posterior * levels.numerator <= levels.denominator), 0)::BIGINT AS after,
    coalesce(sum(sets.people) FILTER (WHERE sets.best * levels.denominator >= sets.total * levels.numerator), 0)::BIGINT AS guessed
FROM levels
LEFT JOIN (
    SELECT
        prior,
        posterior,
        best,
        total,
        sum(people)::BIGINT AS people
    FROM told
    WHERE posterior > 0
    GROUP BY prior, posterior, best, total
) AS sets ON TRUE
GROUP BY levels.level
ORDER BY levels.level;

-- One row per combination of spots: the best guess, of several the smallest value.
CREATE OR REPLACE VIEW guesses AS
SELECT
    shared.alike,
    min(shared.secret) AS guess
FROM shared
INNER JOIN told ON shared.alike = told.alike AND shared.weight = told.best
GROUP BY shared.alike;

-- One row: the people who lie somewhere in every release, those of them whose releases contradict
-- one another, and sums and counts over the others.
CREATE OR REPLACE VIEW summary AS
SELECT
    coalesce(sum(people), 0)::BIGINT AS located,
    coalesce(sum(people) FILTER (WHERE posterior = 0), 0)::BIGINT AS contradictions,
    coalesce(sum(people * prior) FILTER (WHERE posterior > 0), 0)::BIGINT AS prior,
    coalesce(sum(people * posterior) FILTER (WHERE posterior > 0), 0)::BIGINT AS posterior,
    coalesce(sum(people) FILTER (WHERE posterior BETWEEN 1 AND prior - 1), 0)::BIGINT AS vulnerable,
    coalesce(sum(people) FILTER (WHERE posterior = 1), 0)::BIGINT AS breached,
    coalesce(sum(people) FILTER (WHERE posterior = 1 AND prior > 1), 0)::BIGINT AS breached_anew
FROM told;

-- One row: of people who lie somewhere in every release, without contradiction, how many have their
-- true value among those that are left, of how many that is the only one left, and how many the
-- best guess gets right.
CREATE OR REPLACE VIEW truths AS
SELECT
    coalesce(sum(crowd.people) FILTER (WHERE shared.alike IS NOT NULL), 0)::BIGINT AS kept,
    coalesce(sum(crowd.people) FILTER (WHERE shared.alike IS NOT NULL AND told.posterior = 1), 0)::BIGINT AS breached,
    coalesce(sum(crowd.people) FILTER (WHERE crowd.truth = guesses.guess), 0)::BIGINT AS guessed
FROM crowd
INNER JOIN at_now ON crowd.point = at_now.point
INNER JOIN told ON at_now.alike = told.alike AND told.posterior > 0
INNER JOIN guesses ON at_now.alike = guesses.alike
LEFT JOIN shared ON at_now.alike = shared.alike AND crowd.truth = shared.secret;

-- One row per person, in the order of the input: the classes in which they lie in each release, their
-- records and different values of the secret; how many values are left, and the best guess.
{# results_of_people(releases=[1, 2], key=True, bayes=True), results_of_people(releases=[1], key=False, bayes=False) #}
CREATE OR REPLACE VIEW results_of_people AS
SELECT
    everybody.position AS person,
    {% if key %}
    everybody.key,
    {% endif %}
    {% for i in releases %}
    whereabouts_{{ i }}.classes AS classes_{{ i }},
    spot_sizes_{{ i }}.size AS size_{{ i }},
    spot_sizes_{{ i }}.effective AS effective_{{ i }},
    {% endfor %}
    told.prior,
    told.posterior,
    CASE WHEN told.posterior > 0 THEN told.prior - told.posterior END AS "drop",
    CASE WHEN told.posterior > 0 THEN 1 / told.posterior END AS confidence
    {% if bayes %},
    secret_values.secret AS best_guess,
    (told.best // gcd(told.best, told.total))::DOUBLE
    / (told.total // gcd(told.best, told.total))::DOUBLE AS success
    {% endif %}
FROM everybody
{% for i in releases %}
INNER JOIN whereabouts_{{ i }} ON everybody.point = whereabouts_{{ i }}.point
LEFT JOIN spot_sizes_{{ i }} ON whereabouts_{{ i }}.spot = spot_sizes_{{ i }}.spot
{% endfor %}
LEFT JOIN at_last ON everybody.point = at_last.point
LEFT JOIN told ON at_last.alike = told.alike
LEFT JOIN guesses ON told.alike = guesses.alike
LEFT JOIN secret_values ON guesses.guess = secret_values.code
ORDER BY everybody.position;
