-- One row per part one side of which has a secret of too little entropy: n ln n less the sum of
-- m ln m over its values is n times the entropy. Logarithms are whole numbers of 2^-40, so that
-- sums do not depend on the order; the limit is met when less than 10^-9 of it is missing.
CREATE OR REPLACE VIEW l_entropy AS
SELECT part
FROM sided
GROUP BY part, side
HAVING
    floor(sum(people)::BIGINT * ln(sum(people)::BIGINT) * 1099511627776)::HUGEINT
    - sum(floor(people * ln(people) * 1099511627776)::HUGEINT)
    < (sum(people)::BIGINT * ln(wanted_numerator / wanted_denominator) * 1099511627776)
    * 0.999999999::DOUBLE;
