-- One row per tree and different person in it: how many people.
CREATE OR REPLACE VIEW planted AS
SELECT
    roots.root AS node,
    place,
    secrets,
    different.people - coalesce(different.person = roots.target, FALSE)::BIGINT AS people
FROM different CROSS JOIN roots
WHERE different.people > coalesce(different.person = roots.target, FALSE)::BIGINT;
