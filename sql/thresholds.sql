-- One row per threshold asked for: how many people have at least that success.
CREATE OR REPLACE VIEW thresholds AS
SELECT
    wanted.threshold,
    coalesce(sum(people) FILTER (WHERE chance >= wanted.threshold), 0)::BIGINT AS individuals
FROM chances
CROSS JOIN (SELECT unnest((SELECT thresholds FROM asked)) AS threshold) AS wanted
GROUP BY wanted.threshold;
