-- One row per quantile asked for: the least success that this share of the people do not exceed.
CREATE OR REPLACE VIEW quantiles AS
SELECT
    wanted.quantile,
    min(chance) AS success
FROM (
    SELECT
        chance,
        sum(people) OVER (ORDER BY chance ASC)::BIGINT AS upto,
        sum(people) OVER ()::BIGINT AS everybody
    FROM chances
) AS ranked
CROSS JOIN (SELECT unnest((SELECT quantiles FROM asked)) AS quantile) AS wanted
WHERE upto >= wanted.quantile * everybody
GROUP BY wanted.quantile;
