-- One row per number of people that share a value of the secret: over the blocks where a value
-- shared by so many has the largest share of all its people, how many of them stand there. The
-- multiplicative Bayes capacity is the sum of people / everybody.
CREATE OR REPLACE VIEW capacity AS
SELECT
    -best.everybody AS everybody,
    sum(best.people) AS people
FROM (
    SELECT
        cells.qid,
        max({
            'share': cells.weight / prior_cells.weight,
            'everybody': -prior_cells.weight,
            'people': cells.weight
        }) AS best
    FROM cells
    JOIN prior_cells ON prior_cells.secret IS NOT DISTINCT FROM cells.secret
    GROUP BY cells.qid
) AS shares
GROUP BY best.everybody;
