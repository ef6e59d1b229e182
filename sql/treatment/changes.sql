-- One row: who is alone in a block before and after records are dropped. Whoever was alone and
-- stays is alone after it, too; who was not may be alone then.
CREATE OR REPLACE VIEW changes AS
SELECT
    count(*) FILTER (WHERE before = 1) AS singled_out_before,
    count(*) FILTER (WHERE before = 1 AND after = 1) AS still_singled_out,
    count(*) FILTER (WHERE before = 1 AND after = 0) AS lost,
    count(*) FILTER (WHERE before > 1 AND after = 1) AS singled_out_only_after,
    count(*) FILTER (WHERE after = 1) AS singled_out_after
FROM (
    SELECT
        count(*) AS before,
        count(*) FILTER (WHERE member_of) AS after
    FROM microdata
    GROUP BY qid
) AS counted;
