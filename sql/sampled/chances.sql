-- One row per kind of block: the chance that a link of one of its records with the right block of
-- the population hits the right person. With f people in the sample, a share p of those in the
-- population, who are F, this is E(1/F | f), F negative binomial: the integral of
-- x^(f-1) / (1 + (1/p - 1) x) for x from 0 to 1. Summed as a series where f or p is large, else from
-- f - 1 to f, beginning with -ln(p) p / (1 - p).
CREATE OR REPLACE VIEW chances AS
SELECT
    *,
    CASE
        WHEN share >= 1 THEN 1 / size
        WHEN share > 0.5 OR size >= 20
            THEN list_reduce(
                range(50, 0, -1),
                lambda total, i: 1 + total * i * (1 - share) / (size + i),
                1::DOUBLE
            ) * share / size
        ELSE list_reduce(
            range(1, size),
            lambda risk, i: (1 / i - risk) * share / (1 - share),
            -ln(share) * share / (1 - share)
        )
    END AS risk
FROM kinds;
