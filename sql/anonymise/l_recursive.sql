-- One row per part one side of which has a most frequent value that occurs at least c times as
-- often as all from the l-th most frequent on.
CREATE OR REPLACE VIEW l_recursive AS
SELECT part
FROM sided
GROUP BY part, side
HAVING
    max(people)::HUGEINT * wanted_denominator
    >= (
        sum(people)
        - coalesce(list_sum(list_slice(max(people, wanted_l), 1, wanted_l - 1)), 0)
    )::HUGEINT * wanted_numerator;
