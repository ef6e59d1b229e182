-- One row per part one side of which has a secret that is spread otherwise than in the whole
-- release: the sum of |n p - N q| over all values, those that do not occur on the side too, is at
-- most 2 t n N.
CREATE OR REPLACE VIEW t_equal AS
SELECT part
FROM (
    SELECT
        part,
        side,
        sided.people,
        sum(sided.people) OVER (PARTITION BY part, side) AS size,
        whole.people AS everybody
    FROM sided JOIN whole ON sided.value = whole.code
) AS compared
GROUP BY part, side, size
HAVING
    wanted_denominator
    * (
        sum(abs(people::HUGEINT * wanted_records - everybody::HUGEINT * size))
        + size::HUGEINT * (wanted_records - sum(everybody))
    )
    > 2 * wanted_numerator::HUGEINT * size * wanted_records;
