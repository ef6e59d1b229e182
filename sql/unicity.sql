-- Traces of people in a log, and how many a few points single out.

-- One row per person and different point of hers: a tuple of quasi-identifiers that her records have.
CREATE OR REPLACE VIEW traces AS
SELECT DISTINCT
    key,
    qid
FROM microdata
WHERE key IS NOT NULL;

-- One row per different point: its number, and how many people have it.
CREATE OR REPLACE VIEW places AS
SELECT
    qid,
    count(*) AS owners,
    row_number() OVER () AS point
FROM traces
GROUP BY qid;

-- One row per person: her number in the order of the keys, her points, and those of them that
-- somebody else has, too.
CREATE OR REPLACE VIEW people AS
SELECT
    traces.key,
    row_number() OVER (ORDER BY traces.key) AS person,
    count(*) AS points,
    count(*) FILTER (WHERE places.owners > 1) AS shared
FROM traces
JOIN places ON places.qid IS NOT DISTINCT FROM traces.qid
GROUP BY traces.key;

-- One row: the seed, the number of known points, and the number of draws.
CREATE OR REPLACE VIEW asked AS
SELECT
    wanted_seed AS seed,
    wanted_points AS points,
    wanted_draws AS draws;

-- One row per person with enough points: her place among them, from 0.
CREATE OR REPLACE VIEW eligible AS
SELECT
    people.person,
    row_number() OVER (ORDER BY people.person) - 1 AS place
FROM people, asked
WHERE people.points >= asked.points;

-- One row per draw: the person it falls on, each with the same chance, of those with enough points.
CREATE OR REPLACE VIEW drawn AS
SELECT
    draws.draw,
    draws.lot,
    eligible.person
FROM (
    SELECT
        numbered.draw,
        numbered.lot,
        (md5_number(numbered.lot) % there.people::UHUGEINT)::BIGINT AS place
    FROM (
        SELECT
            counted.draw,
            concat(counted.seed, '/', counted.points, '/', counted.draw) AS lot
        FROM (
            SELECT
                seed,
                points,
                unnest(range(draws)) AS draw
            FROM asked
        ) AS counted
    ) AS numbered, (
        SELECT count(*) AS people
        FROM eligible
    ) AS there
) AS draws
JOIN eligible ON eligible.place = draws.place;

-- One row per number of points and number of points that others have, too: so many people.
CREATE OR REPLACE VIEW lengths AS
SELECT
    points,
    shared,
    count(*) AS people
FROM people
GROUP BY GROUPING SETS ((points), (shared));

-- One row per person and point of hers, by their numbers.
CREATE OR REPLACE VIEW paths AS
SELECT
    people.person,
    places.point,
    places.owners
FROM traces
JOIN places ON places.qid IS NOT DISTINCT FROM traces.qid
JOIN people ON people.key = traces.key;

-- One row per draw and point that is known of its person: each set of her points has the same chance.
CREATE OR REPLACE VIEW picked AS
SELECT
    lots.draw,
    lots.person,
    lots.point,
    lots.owners
FROM (
    SELECT
        drawn.draw,
        drawn.person,
        ranked.point,
        ranked.owners,
        row_number() OVER (
            PARTITION BY drawn.draw
            ORDER BY md5(concat(drawn.lot, '/', ranked.place)), ranked.place
        ) AS turn
    FROM drawn
    JOIN (
        SELECT
            paths.person,
            paths.point,
            paths.owners,
            row_number() OVER (PARTITION BY paths.person ORDER BY places.qid) AS place
        FROM paths
        JOIN places ON places.point = paths.point
        SEMI JOIN drawn ON drawn.person = paths.person
    ) AS ranked ON ranked.person = drawn.person
) AS lots, asked
WHERE lots.turn <= asked.points;

-- One row per draw whose known points others have, too: these points, the rarest first, and how many
-- people have that one.
CREATE OR REPLACE VIEW rarest AS
SELECT
    draw,
    person,
    list(point ORDER BY owners, point) AS known,
    min(owners) AS owners
FROM picked
GROUP BY draw, person
HAVING min(owners) > 1;

-- One row: how many people would be looked at who have the rarest known point of a draw.
CREATE OR REPLACE VIEW suspects AS
SELECT coalesce(sum(owners), 0)::BIGINT AS suspects
FROM rarest;

-- One row: the draws in which somebody else has all known points. Everybody with the rarest of these
-- is looked up among those with each of the others.
{# hidden(size=1), hidden(size=3) #}
CREATE OR REPLACE VIEW hidden AS
SELECT count(DISTINCT rarest.draw) AS hidden
FROM rarest
JOIN paths AS others ON others.point = rarest.known[1] AND others.person <> rarest.person
{% for i in range(2, size + 1) %}
SEMI JOIN paths AS others_{{ i }}
    ON others_{{ i }}.person = others.person AND others_{{ i }}.point = rarest.known[{{ i }}]
{% endfor %};

-- One row per set of points that others have, too, but all of them only one person.
{# single(size=1), single(size=3) #}
CREATE OR REPLACE VIEW single AS
SELECT any_value(point_1.person) AS person
FROM (SELECT person, point FROM paths WHERE owners > 1) AS point_1
{% for i in range(2, size + 1) %}
JOIN (SELECT person, point FROM paths WHERE owners > 1) AS point_{{ i }}
    ON point_{{ i }}.person = point_{{ i - 1 }}.person AND point_{{ i }}.point > point_{{ i - 1 }}.point
{% endfor %}
GROUP BY {{ range(1, size + 1) | each("point_#.point", ", ") }}
HAVING count(*) = 1;

-- One row per person with enough points: the number of sets of points, and of shared points. Each
-- division of a binomial coefficient leaves a whole number.
{# chances(size=2) #}
CREATE OR REPLACE VIEW chances AS
SELECT
    person,
    points,
    1::HUGEINT {{ range(size) | each("* (points - #) // (# + 1)") }} AS sets,
    1::HUGEINT {{ range(size) | each("* (shared - #) // (# + 1)") }} AS tested
FROM people
WHERE points >= {{ size }};

-- One row per number of points: how many people have so many, and how many sets of points, of those
-- that they have, nobody else has all of. `tested` sets are of shared points, of which `lone` ones
-- are one person's; any set with a point of one person alone is hers alone.
CREATE OR REPLACE VIEW alone AS
SELECT
    chances.points,
    count(*) AS people,
    sum(chances.sets - chances.tested + coalesce(lone.sets, 0))::HUGEINT AS alone
FROM chances
LEFT JOIN (
    SELECT
        person,
        count(*) AS sets
    FROM single
    GROUP BY person
) AS lone ON lone.person = chances.person
GROUP BY chances.points;
