-- Missing values that may be anything: how the people fit together over all completions.

-- One row per block and value of the secret: the values of the quasi-identifiers, a mask with a bit for
-- each that is present, the number of the value (1 if the secret is the owner of the record), and how
-- many people have it. With `open`, a missing value has no number, as it may be any other.
{# people_by_pattern(qids=[1, 2], secret=0, open=0), people_by_pattern(qids=[1], secret=1, open=1) #}
CREATE OR REPLACE VIEW people_by_pattern AS
SELECT
    {{ qids | each("qid_# AS place_#,") }}
    {% if secret and open %}
    CASE WHEN secret_{{ secret }} IS NOT NULL THEN dense_rank() OVER (ORDER BY secret_{{ secret }}) END
    {% elif secret %}
    dense_rank() OVER (ORDER BY secret_{{ secret }})
    {% else %}
    1::BIGINT
    {% endif %}
        AS secret,
    {{ "people" if secret else "size" }}::BIGINT AS people,
    (
        0
        {% for i in qids %}
        + CASE WHEN qid_{{ i }} IS NULL THEN 0 ELSE {{ 2 ** (i - 1) }} END
        {% endfor %}
    )::BIGINT AS mask
FROM cells;

-- One row per pattern and secret, as `secret_cells`, but each person who misses the secret has one of
-- her own: no completion makes fewer guesses right.
CREATE OR REPLACE VIEW own_secrets AS
SELECT
    place,
    mask,
    CASE WHEN secret IS NULL THEN -row_number() OVER () ELSE secret END AS secret,
    CASE WHEN secret IS NULL THEN 1::BIGINT ELSE people END AS people
FROM (
    SELECT
        place,
        mask,
        secret,
        people,
        unnest(range(CASE WHEN secret IS NULL THEN people ELSE 1 END)) AS person
    FROM secret_cells
) AS single;

-- One row: of the complete patterns, the most people who can be guessed right, and those whose secret
-- can be certain, if people who miss it may have any; the fewest secrets of one.
CREATE OR REPLACE VIEW secret_ends AS
SELECT
    coalesce(sum(mode), 0)::BIGINT AS modes,
    coalesce(sum(size) FILTER (WHERE "values" <= 1), 0)::BIGINT AS certain,
    min(greatest("values", 1))::BIGINT AS fewest
FROM (
    SELECT
        place,
        sum(people)::BIGINT AS size,
        coalesce(max(people) FILTER (WHERE secret IS NOT NULL), 0)
        + coalesce(sum(people) FILTER (WHERE secret IS NULL), 0)::BIGINT AS mode,
        count(secret) AS "values"
    FROM secret_cells
    WHERE mask = full_mask
    GROUP BY place
) AS complete;

-- One row: the people who miss the secret, those with the most frequent reported one, and how many
-- are reported.
CREATE OR REPLACE VIEW secret_totals AS
SELECT
    coalesce(sum(people) FILTER (WHERE secret IS NULL), 0)::BIGINT AS unreported,
    coalesce(max(people) FILTER (WHERE secret IS NOT NULL), 0)::BIGINT AS commonest,
    count(secret) AS reported_values
FROM (
    SELECT
        secret,
        sum(people)::BIGINT AS people
    FROM secret_cells
    GROUP BY secret
) AS every_one;

-- One row per combination of the quasi-identifiers, a pattern, in which `mask` has a bit for each
-- value that is present: its people, those with its most frequent secret, how many secrets it has.
-- Secrets are numbers here.
CREATE OR REPLACE VIEW patterns AS
SELECT
    place,
    mask,
    row_number() OVER () AS pattern,
    sum(people)::BIGINT AS size,
    max(people)::BIGINT AS mode,
    count(*) AS "values",
    min(secret) AS first_secret
FROM pattern_cells
GROUP BY place, mask;

-- One row per pattern and secret: its people.
CREATE OR REPLACE VIEW pattern_secrets AS
SELECT
    patterns.pattern,
    pattern_cells.secret,
    pattern_cells.people
FROM pattern_cells
JOIN patterns ON
    patterns.mask = pattern_cells.mask
    AND each(patterns.place IS NOT DISTINCT FROM pattern_cells.place);

-- One row per mask of a pattern that misses a value.
CREATE OR REPLACE VIEW masks AS
SELECT DISTINCT mask
FROM patterns
WHERE mask < full_mask;

-- One row per incomplete pattern and mask of others: its values that such a pattern has, too.
CREATE OR REPLACE VIEW shadows AS
SELECT
    patterns.pattern,
    patterns.mask,
    masks.mask AS other_mask,
    CASE WHEN ((patterns.mask & masks.mask) >> (number - 1)) & 1 = 1 THEN patterns.place END AS place
FROM patterns
JOIN masks ON masks.mask != patterns.mask
WHERE patterns.mask < full_mask;

-- One row per incomplete pattern with which another incomplete one agrees in all values that both
-- have, so that their people may be in one block.
CREATE OR REPLACE VIEW mates AS
SELECT DISTINCT shadows.pattern
FROM shadows
JOIN (SELECT DISTINCT mask, other_mask, place FROM shadows) AS others ON
    others.mask = shadows.other_mask
    AND others.other_mask = shadows.mask
    AND each(others.place IS NOT DISTINCT FROM shadows.place);

-- One row per mask and incomplete pattern that has its values: that pattern, cut to these values.
-- Of a pattern without mates only the one of its own mask.
CREATE OR REPLACE VIEW cuts AS
SELECT
    patterns.pattern,
    patterns.mask AS pattern_mask,
    patterns.size,
    masks.mask,
    mates.pattern IS NULL AS lonely,
    CASE WHEN (masks.mask >> (number - 1)) & 1 = 1 THEN patterns.place END AS place
FROM patterns
JOIN masks ON (patterns.mask & masks.mask) = masks.mask
LEFT JOIN mates ON mates.pattern = patterns.pattern
WHERE
    patterns.mask < full_mask
    AND (patterns.mask = masks.mask OR mates.pattern IS NOT NULL);

-- One row per combination of values of a mask, a key: how many incomplete patterns have it, the
-- pattern that has no other value, and its people.
CREATE OR REPLACE VIEW keys AS
SELECT
    mask,
    place,
    row_number() OVER () AS key,
    bool_and(lonely) AS lonely,
    count(*) AS patterns,
    max(CASE WHEN pattern_mask = mask THEN pattern END) AS pattern,
    max(CASE WHEN pattern_mask = mask THEN size END) AS size
FROM cuts
GROUP BY mask, place;

-- One row per mask and complete pattern: that pattern, cut to the values of the mask.
CREATE OR REPLACE VIEW complete_cuts AS
SELECT
    patterns.pattern,
    masks.mask,
    CASE WHEN (masks.mask >> (number - 1)) & 1 = 1 THEN patterns.place END AS place
FROM patterns
CROSS JOIN masks
WHERE patterns.mask = full_mask;

-- One row per key and complete pattern that has its values.
CREATE OR REPLACE VIEW fits AS
SELECT
    keys.key,
    complete_cuts.pattern
FROM complete_cuts
JOIN keys ON
    keys.mask = complete_cuts.mask
    AND each(keys.place IS NOT DISTINCT FROM complete_cuts.place);

-- One row per key and incomplete pattern that has its values.
CREATE OR REPLACE VIEW extensions AS
SELECT
    keys.key,
    cuts.pattern
FROM cuts
JOIN keys ON
    keys.mask = cuts.mask
    AND each(keys.place IS NOT DISTINCT FROM cuts.place);

-- One row per key: the largest number of people with one secret who have its values.
CREATE OR REPLACE VIEW key_modes AS
SELECT
    key,
    max(people) AS most
FROM (
    SELECT
        members.key,
        pattern_secrets.secret,
        sum(pattern_secrets.people)::BIGINT AS people
    FROM (SELECT * FROM fits UNION ALL SELECT * FROM extensions) AS members
    JOIN pattern_secrets ON pattern_secrets.pattern = members.pattern
    GROUP BY members.key, pattern_secrets.secret
) AS counted
GROUP BY key;

-- One row per key that complete patterns have: how many they are, those of one person, their people
-- with the most frequent secrets, those with one secret, and the only one of these secrets.
CREATE OR REPLACE VIEW fitting AS
SELECT
    fits.key,
    count(*) AS blocks,
    count(*) FILTER (WHERE patterns.size = 1) AS uniques,
    sum(patterns.mode)::BIGINT AS modes,
    CASE
        WHEN bool_and(patterns."values" = 1) AND min(first_secret) = max(first_secret)
            THEN min(first_secret)
    END AS only_secret
FROM fits
JOIN patterns ON patterns.pattern = fits.pattern
GROUP BY fits.key;

-- One row per key, with what complete patterns have it. `excess` are the people who cannot be hidden
-- behind the best guesses of these patterns; `stuck` those whose secret is certain in all
-- completions, if no other incomplete pattern agrees with this one.
CREATE OR REPLACE VIEW key_counts AS
SELECT
    keys.key,
    keys.mask,
    keys.lonely,
    keys.patterns,
    keys.pattern,
    keys.size,
    coalesce(fitting.blocks, 0) AS blocks,
    coalesce(fitting.uniques, 0) AS uniques,
    greatest(0, key_modes.most - coalesce(fitting.modes, 0)) AS excess,
    CASE
        WHEN
            keys.lonely AND patterns."values" = 1
            AND (fitting.key IS NULL OR fitting.only_secret = patterns.first_secret)
            THEN keys.size
        ELSE 0
    END AS stuck,
    patterns."values"
FROM keys
JOIN key_modes ON key_modes.key = keys.key
LEFT JOIN fitting ON fitting.key = keys.key
LEFT JOIN patterns ON patterns.pattern = keys.pattern;

-- One row per mask of keys that have mates: those that no complete pattern has, and the people who
-- cannot be hidden.
CREATE OR REPLACE VIEW mask_counts AS
SELECT
    mask,
    count(*) FILTER (WHERE blocks = 0) AS blocks,
    sum(excess)::BIGINT AS excess,
    count(*) FILTER (WHERE blocks = 0 AND patterns = 1 AND pattern IS NOT NULL) AS leaves
FROM key_counts
WHERE NOT lonely
GROUP BY mask;

-- One row: what complete patterns are, and what holds of patterns without mates and with them.
CREATE OR REPLACE VIEW totals AS
SELECT
    complete.people,
    complete.incomplete,
    complete.blocks,
    complete.uniques,
    complete.modes,
    complete.certain,
    alike.with_mates,
    alike.lonely_blocks,
    alike.lonely_uniques,
    alike.lonely_excess,
    alike.lonely_hidden,
    alike.lonely_size,
    alike.lonely_values,
    alike.hidden,
    alike.stuck
FROM (
    SELECT
        sum(size)::BIGINT AS people,
        coalesce(sum(size) FILTER (WHERE mask < full_mask), 0)::BIGINT AS incomplete,
        count(*) FILTER (WHERE mask = full_mask) AS blocks,
        count(*) FILTER (WHERE mask = full_mask AND size = 1) AS uniques,
        coalesce(sum(mode) FILTER (WHERE mask = full_mask), 0)::BIGINT AS modes,
        coalesce(sum(size) FILTER (WHERE mask = full_mask AND "values" = 1), 0)::BIGINT AS certain
    FROM patterns
) AS complete
CROSS JOIN (
    SELECT
        count(*) FILTER (WHERE NOT lonely) AS with_mates,
        count(*) FILTER (WHERE lonely AND blocks = 0) AS lonely_blocks,
        count(*) FILTER (WHERE lonely AND blocks = 0 AND size = 1) AS lonely_uniques,
        coalesce(sum(excess) FILTER (WHERE lonely), 0)::BIGINT AS lonely_excess,
        coalesce(sum(least(size, uniques)) FILTER (WHERE lonely), 0)::BIGINT AS lonely_hidden,
        coalesce(sum(least(size, uniques)) FILTER (WHERE NOT lonely), 0)::BIGINT AS hidden,
        coalesce(sum(stuck), 0)::BIGINT AS stuck,
        min(size) FILTER (WHERE lonely AND blocks = 0) AS lonely_size,
        min("values") FILTER (WHERE lonely AND blocks = 0) AS lonely_values
    FROM key_counts
    WHERE pattern IS NOT NULL
) AS alike;

-- One row: the complete patterns, each with the people of incomplete ones that agree with it: the
-- least people and secrets that one can then have, and those of one person that may be hidden by
-- patterns with mates.
CREATE OR REPLACE VIEW joined AS
SELECT
    min(patterns.size + coalesce(guests.people, 0)) AS least_size,
    min(patterns."values" + coalesce(guests.people, 0)) AS least_values,
    count(*) FILTER (WHERE patterns.size = 1 AND NOT guests.lonely) AS reachable_uniques
FROM patterns
LEFT JOIN (
    SELECT
        fits.pattern,
        sum(keys.size)::BIGINT AS people,
        bool_and(keys.lonely) AS lonely
    FROM fits
    JOIN keys ON keys.key = fits.key
    WHERE keys.pattern IS NOT NULL
    GROUP BY fits.pattern
) AS guests ON guests.pattern = patterns.pattern
WHERE patterns.mask = full_mask;

-- One row: the largest number of people to whom every block of a key can grow together, the least
-- of all keys of patterns without mates.
CREATE OR REPLACE VIEW level AS
SELECT min((size + below) // rank)::BIGINT AS level
FROM (
    SELECT
        keys.size,
        sum(patterns.size) OVER ordered AS below,
        row_number() OVER ordered AS rank
    FROM fits
    JOIN keys ON keys.key = fits.key
    JOIN patterns ON patterns.pattern = fits.pattern
    WHERE keys.lonely
    WINDOW ordered AS (
        PARTITION BY keys.key
        ORDER BY patterns.size, patterns.pattern
        ROWS UNBOUNDED PRECEDING
    )
) AS filled;

-- One row per key of a pattern and complete pattern with one secret that agrees with it, of which
-- the pattern has another: `others` of its people do. Larger ones come first, by secret.
CREATE OR REPLACE VIEW breakable AS
SELECT
    fits.key,
    fits.pattern,
    keys.lonely,
    keys.size AS guests,
    patterns.size,
    keys.size - coalesce(pattern_secrets.people, 0) AS others,
    row_number() OVER (
        PARTITION BY fits.key, patterns.first_secret ORDER BY patterns.size DESC
    ) AS rank
FROM fits
JOIN keys ON keys.key = fits.key
JOIN patterns ON patterns.pattern = fits.pattern
LEFT JOIN pattern_secrets ON
    pattern_secrets.pattern = keys.pattern
    AND pattern_secrets.secret = patterns.first_secret
WHERE
    keys.pattern IS NOT NULL
    AND patterns."values" = 1
    AND keys.size > coalesce(pattern_secrets.people, 0);

-- One row: the most people of complete patterns with one secret whose secret becomes uncertain if
-- each person of an incomplete pattern joins one of them: for patterns without mates, for those
-- with mates, and all people of those that may be joined by the latter.
CREATE OR REPLACE VIEW broken AS
SELECT
    coalesce(sum(size) FILTER (WHERE lonely), 0)::BIGINT AS lonely_broken,
    coalesce(sum(size) FILTER (WHERE NOT lonely), 0)::BIGINT AS broken,
    (
        SELECT coalesce(sum(size), 0)::BIGINT
        FROM (SELECT DISTINCT pattern, size FROM breakable WHERE NOT lonely) AS every_one
    ) AS reachable_people
FROM (
    SELECT
        *,
        row_number() OVER (PARTITION BY key ORDER BY size DESC) AS place_in_key
    FROM breakable
    WHERE rank <= others
) AS ranked
WHERE place_in_key <= guests;

-- One row: the people with the most frequent secret of all, and how many secrets there are.
CREATE OR REPLACE VIEW secrets AS
SELECT
    max(people) AS most_frequent,
    count(*) AS secrets
FROM (
    SELECT
        secret,
        sum(people)::BIGINT AS people
    FROM pattern_secrets
    GROUP BY secret
) AS every_one;
