-- One row per value of a secret: how many people have it, how many have it or a smaller one, and
-- the sum of the latter over all smaller values.
CREATE OR REPLACE VIEW whole AS
SELECT
    code,
    people,
    upto,
    sum(upto) OVER (ORDER BY code) - upto AS before
FROM (
    SELECT
        code,
        people,
        sum(people) OVER (ORDER BY code) AS upto
    FROM dictionary
) AS added;
