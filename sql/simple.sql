-- Attacks on one release in the fewest lines: everybody counts once, a guess is right or wrong.
-- The columns bear the names of those of `qifsql attack` that they equal.

-- One row: re-identification of everybody (CRS). The guess is right for one person of each block.
CREATE OR REPLACE VIEW crs AS
SELECT
    sum(size) AS records,
    count(*) AS blocks,
    count_if(size = 1) AS singled_out,
    count_if(size = 1) / sum(size) AS posterior_deterministic,
    count(*) / sum(size) AS posterior_probabilistic
FROM (SELECT qid, count(*) AS size FROM microdata GROUP BY ALL) AS blocks;

-- One row: attribute inference about everybody (CAS). The guess is the most frequent value of the
-- secret in each block.
CREATE OR REPLACE VIEW cas AS
SELECT
    sum(size) AS records,
    count(*) AS blocks,
    count_if(size = 1) AS singled_out,
    sum(if("values" = 1, size, 0)) / sum(size) AS posterior_deterministic,
    sum(mode) / sum(size) AS posterior_probabilistic
FROM (
    SELECT qid, sum(people) AS size, max(people) AS mode, count(*) AS "values"
    FROM (SELECT qid, secret, count(*) AS people FROM microdata GROUP BY ALL) AS cells
    GROUP BY ALL
) AS blocks;

-- One row: re-identification of one person (IRS). The guess is any of her look-alikes.
CREATE OR REPLACE VIEW irs AS
SELECT
    count(*) AS matches,
    (count(*) = 1)::INTEGER AS posterior_deterministic,
    1 / count(*) AS posterior_probabilistic
FROM microdata;

-- One row: attribute inference about one person (IAS). The guess is the most frequent value of the
-- secret among her look-alikes.
CREATE OR REPLACE VIEW ias AS
SELECT
    sum(people) AS matches,
    (count(*) = 1)::INTEGER AS posterior_deterministic,
    max(people) / sum(people) AS posterior_probabilistic
FROM (SELECT secret, count(*) AS people FROM microdata GROUP BY ALL) AS cells;
