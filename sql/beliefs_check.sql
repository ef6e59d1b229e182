-- One row: whether beliefs fit the values of the secret. How many lines there are and how many
-- different values, how many of these occur; how many beliefs are no probability; their sum; how
-- many people have values that are ruled out; how many values of the secret have no belief.
CREATE OR REPLACE VIEW beliefs_check AS
SELECT
    count(*) AS lines,
    count(DISTINCT beliefs.value) + (count(*) FILTER (WHERE beliefs.value IS NULL) > 0)::INTEGER
        AS different,
    count(prior_cells.weight) FILTER (WHERE beliefs.value IS NOT NULL OR beliefs.raw IS NULL)
        AS known,
    count(*) FILTER (WHERE belief IS NULL OR NOT isfinite(belief) OR belief < 0) AS unusable,
    sum(belief) AS total,
    coalesce(sum(prior_cells.people) FILTER (WHERE belief = 0), 0)::BIGINT AS ruled_out,
    (
        SELECT count(*)
        FROM prior_cells
        LEFT JOIN beliefs ON beliefs.value IS NOT DISTINCT FROM prior_cells.secret
        WHERE beliefs.belief IS NULL
    ) AS missing
FROM beliefs
LEFT JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM beliefs.value;
