-- One row per part one side of which has a secret that is spread otherwise than in the whole
-- release, in the ordered distance: the sum over all values x of |N n(x) - n N(x)|, where n(x) and
-- N(x) are those with x or a smaller value, is at most t (values - 1) n N. Between two values that
-- occur on the side n(x) stays the same; from the value number ``reached`` on N(x) is the greater.
CREATE OR REPLACE VIEW t_ordered AS
SELECT part
FROM (
    SELECT
        part,
        side,
        size,
        upto * wanted_records * (2 * reached - code - next_code)
        + size * (next_before + before - 2 * reached_before)
        + CASE WHEN first_code = code THEN size * before ELSE 0 END AS distance
    FROM (
        SELECT
            steps.*,
            CASE
                WHEN reached.code IS NULL OR reached.code < steps.code THEN steps.code
                WHEN reached.code >= next_code THEN next_code
                ELSE reached.code + 1
            END AS reached,
            CASE
                WHEN reached.code IS NULL OR reached.code < steps.code THEN steps.before
                WHEN reached.code >= next_code THEN next_before
                ELSE reached.before + reached.upto
            END AS reached_before
        FROM (
            SELECT
                part,
                side,
                whole.code,
                whole.before::HUGEINT AS before,
                sum(sided.people) OVER (PARTITION BY part, side)::HUGEINT AS size,
                sum(sided.people) OVER (PARTITION BY part, side ORDER BY whole.code)::HUGEINT
                    AS upto,
                min(whole.code) OVER (PARTITION BY part, side) AS first_code,
                lead(whole.code, 1, wanted_values)
                    OVER (PARTITION BY part, side ORDER BY whole.code) AS next_code,
                lead(whole.before, 1, wanted_before)
                    OVER (PARTITION BY part, side ORDER BY whole.code)::HUGEINT AS next_before
            FROM sided JOIN whole ON sided.value = whole.code
        ) AS steps
        ASOF LEFT JOIN whole AS reached ON steps.upto * wanted_records // steps.size >= reached.upto
    ) AS crossed
) AS measured
GROUP BY part, side, size
HAVING
    wanted_denominator * sum(distance)::HUGEINT
    > wanted_numerator * (wanted_values - 1) * size * wanted_records;
