-- One row: how many people, values of the useful attribute and of the secret (a missing one is one),
-- pairs of them that occur together, and values of the useful attribute that are missing.
CREATE OR REPLACE VIEW extent AS
SELECT
    coalesce(sum(people), 0)::BIGINT AS records,
    (SELECT count(*) FROM (SELECT useful FROM joint GROUP BY useful) AS useful_values)
        AS useful_values,
    (SELECT count(*) FROM (SELECT secret FROM joint GROUP BY secret) AS secret_values)
        AS secret_values,
    (SELECT count(*) FROM (SELECT useful, secret FROM joint GROUP BY useful, secret) AS pairs)
        AS pairs,
    coalesce(sum(people) FILTER (WHERE useful IS NULL), 0)::BIGINT AS missing
FROM joint;
