-- One row per release: sums over the people who lie somewhere in every one, without contradiction.
CREATE OR REPLACE VIEW by_release AS
SELECT
    release,
    sum(people * size)::BIGINT AS size,
    sum(people * effective)::BIGINT AS effective,
    coalesce(sum(people) FILTER (WHERE effective > posterior), 0)::BIGINT AS vulnerable,
    coalesce(sum(people) FILTER (WHERE effective = 1), 0)::BIGINT AS breached
FROM (
    SELECT
        people,
        posterior,
        unnest(sizes) AS size,
        unnest(effectives) AS effective,
        generate_subscripts(sizes, 1) AS release
    FROM told
    WHERE posterior > 0
) AS each_release
GROUP BY release
ORDER BY release;
