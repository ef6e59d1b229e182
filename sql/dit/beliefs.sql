-- What a classifier believes with and without the target, and how far apart that is.

-- One row per target, quasi-identifier and secret, with (release 0) or without them (1): how many
-- records with that secret have a cell that holds the target's value.
CREATE OR REPLACE VIEW tallies AS
SELECT
    target,
    release,
    attribute,
    secret,
    sum(people)::BIGINT AS people
FROM (
    SELECT
        listed.target,
        listed.release,
        listed.attribute,
        holding.secret,
        listed.sign * holding.people AS people
    FROM (
        SELECT
            parts.target,
            parts.release,
            parts.unit,
            parts.sign,
            unnest(targets.spots) AS spot,
            generate_subscripts(targets.spots, 1) AS attribute
        FROM (
            SELECT
                target,
                1 AS release,
                unit,
                sign
            FROM pieces
            UNION ALL
            SELECT
                target,
                0 AS release,
                0::BIGINT AS unit,
                1 AS sign
            FROM targets
        ) AS parts
        JOIN targets ON parts.target = targets.target
    ) AS listed
    JOIN holding
        ON listed.unit = holding.unit AND listed.attribute = holding.attribute
        AND listed.spot = holding.spot
    UNION ALL
    SELECT
        own_cells.target,
        1 AS release,
        own_cells.attribute,
        secrets_held.secret,
        secrets_held.people - (secrets_held.secret = targets.secret)::BIGINT AS people
    FROM own_cells
    JOIN targets ON own_cells.target = targets.target
    JOIN secrets_held ON own_cells.class = secrets_held.class
) AS added
GROUP BY target, release, attribute, secret;

-- One row per target, release with (0) or without them (1), pattern and secret, in their order: how
-- many records. Records none of whose cells hold a value of the target have pattern 0.
CREATE OR REPLACE VIEW lessons AS
SELECT
    target,
    release,
    pattern,
    secret,
    people
FROM (
    SELECT
        target,
        release,
        pattern,
        secret,
        people
    FROM patterns
    WHERE pattern > 0
    UNION ALL
    SELECT
        totals.target,
        totals.release,
        0::BIGINT AS pattern,
        totals.secret,
        totals.people - coalesce(known.people, 0) AS people
    FROM totals LEFT JOIN (
        SELECT
            target,
            release,
            secret,
            sum(people)::BIGINT AS people
        FROM patterns
        WHERE pattern > 0
        GROUP BY target, release, secret
    ) AS known
        ON totals.target = known.target AND totals.release = known.release
        AND totals.secret = known.secret
) AS every_lesson
WHERE people > 0
ORDER BY target, release, pattern, secret;

-- One row per target, release and secret: what naive Bayes believes, for someone all of whose
-- quasi-identifiers lie in the cell (alpha 1, prior fitted), as probability and its logarithm.
-- Sums are of whole numbers of 2^-60, so that they do not depend on the order.
CREATE OR REPLACE VIEW beliefs AS
SELECT
    target,
    release,
    secret,
    exp(score - best) / (total / 1152921504606846976) AS probability,
    score - best - ln(total / 1152921504606846976) AS logarithm
FROM (
    SELECT
        *,
        sum(floor(exp(score - best) * 1152921504606846976)::HUGEINT)
            OVER (PARTITION BY target, release)::DOUBLE AS total
    FROM (
        SELECT
            *,
            max(score) OVER (PARTITION BY target, release) AS best
        FROM (
            SELECT
                totals.target,
                totals.release,
                totals.secret,
                ln(totals.people) - wanted_width * ln(totals.people + 2) + coalesce(held.evidence, 0) AS score
            FROM totals LEFT JOIN (
                SELECT
                    target,
                    release,
                    secret,
                    list_sum(list(ln(people + 1) ORDER BY attribute)) AS evidence
                FROM tallies
                GROUP BY target, release, secret
            ) AS held
                ON totals.target = held.target AND totals.release = held.release
                AND totals.secret = held.secret
        ) AS scored
    ) AS ranked
) AS weighed;

-- One row per target, release with (0) or without them (1), and secret: what a classifier believes,
-- as probability and its logarithm, which is empty where the probability is 0.
CREATE OR REPLACE VIEW believed AS
SELECT
    target,
    release,
    secret,
    probability,
    CASE WHEN probability > 0 THEN ln(probability) END AS logarithm
FROM believed;

-- One row per target and secret that occurs with or without them: both probabilities, and how far
-- their logarithms are apart (infinite where one is 0 alone).
CREATE OR REPLACE VIEW gaps AS
SELECT
    target,
    secret,
    coalesce(max(probability) FILTER (WHERE release = 0), 0) AS before,
    coalesce(max(probability) FILTER (WHERE release = 1), 0) AS behind,
    CASE
        WHEN count(logarithm) = 0 THEN 0
        WHEN count(logarithm) = 1 THEN 'inf'::DOUBLE
        ELSE max(logarithm) - min(logarithm)
    END AS divergence
FROM beliefs
GROUP BY target, secret;

-- One row per target and release: the best guess, the first of those whose probability is the
-- highest but for rounding.
CREATE OR REPLACE VIEW guesses AS
SELECT
    target,
    release,
    min(secret) AS guess
FROM (
    SELECT
        *,
        max(probability) OVER (PARTITION BY target, release) AS most
    FROM beliefs
) AS ranked
WHERE probability >= most * (1 - 1e-12)
GROUP BY target, release;

-- One row per target: what must be carried over all edges of the secret's hierarchy to make one
-- distribution the other.
CREATE OR REPLACE VIEW flows AS
SELECT
    target,
    sum(abs(flow))::DOUBLE / 1152921504606846976 AS distance
FROM (
    SELECT
        gaps.target,
        edges.node,
        sum(floor((gaps.before - gaps.behind) * 1152921504606846976)::HUGEINT) AS flow
    FROM gaps JOIN edges ON gaps.secret = edges.secret
    GROUP BY gaps.target, edges.node
) AS flowing
GROUP BY target;

-- One row per target: how far apart what is believed with and without them is, in each distance;
-- the two guesses.
CREATE OR REPLACE VIEW distances AS
SELECT
    targets.target,
    targets.people,
    apart.total / 4 AS emd_printed,
    apart.total / 2 AS emd,
    apart.divergence AS max_divergence,
    flows.distance AS emd_hierarchy,
    guessed.with_target,
    guessed.without_target
FROM targets
JOIN (
    SELECT
        target,
        sum(floor(abs(before - behind) * 1152921504606846976)::HUGEINT)::DOUBLE / 1152921504606846976 AS total,
        max(divergence) AS divergence
    FROM gaps
    GROUP BY target
) AS apart ON targets.target = apart.target
JOIN (
    SELECT
        target,
        any_value(guess) FILTER (WHERE release = 0) AS with_target,
        any_value(guess) FILTER (WHERE release = 1) AS without_target
    FROM guesses
    GROUP BY target
) AS guessed ON targets.target = guessed.target
LEFT JOIN flows ON targets.target = flows.target;
