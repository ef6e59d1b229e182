-- One row per kind of block that took this attribute and takes nothing more that varies. A block of
-- two people is settled for good: they are alone as soon as anything that varies is taken.
CREATE OR REPLACE VIEW settled_taken AS
SELECT
    CASE WHEN size = 2 THEN state ELSE drop_open(state) END AS state,
    word,
    count(*) AS blocks
FROM taken
GROUP BY ALL;
