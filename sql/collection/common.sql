-- One row: how many records of the focal dataset are of people whom another dataset has, too, and
-- how many records the other one has.
CREATE OR REPLACE VIEW common AS
SELECT
    (SELECT count(*) FROM keyed SEMI JOIN others ON keyed.key = others.key) AS shared,
    (SELECT count(*) FROM keyed) AS people,
    (SELECT count(*) FROM others) AS others;
