-- One row per record, by the numbers of its values: the lot that it draws. Records that are alike
-- draw in turn, each a lot of its own, so that their order does not matter.
CREATE OR REPLACE VIEW lots AS
SELECT
    *,
    md5(concat(seed, '|', own, '|', row_number() OVER (PARTITION BY own))) AS lot
FROM alike;
