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
