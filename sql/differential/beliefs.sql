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
