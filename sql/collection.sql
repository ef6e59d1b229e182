-- Keys that join the releases of a collection.

-- One row: how many records of the focal dataset are of people whom another dataset has, too, and
-- how many records the other one has.
CREATE OR REPLACE VIEW common AS
SELECT
    (SELECT count(*) FROM keyed SEMI JOIN others ON keyed.key = others.key) AS shared,
    (SELECT count(*) FROM keyed) AS people,
    (SELECT count(*) FROM others) AS others;

-- One row: the keys that several records of a dataset have, how many records have them, and how
-- many have no key at all.
CREATE OR REPLACE VIEW repeated AS
SELECT
    count(*) FILTER (WHERE records > 1 AND key IS NOT NULL) AS keys,
    coalesce(sum(records) FILTER (WHERE records > 1 AND key IS NOT NULL), 0)::BIGINT AS records,
    coalesce(sum(records) FILTER (WHERE key IS NULL), 0)::BIGINT AS without_key
FROM (
    SELECT
        key,
        count(*) AS records
    FROM keyed
    GROUP BY key
) AS counted;
