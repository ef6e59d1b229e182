-- One row per block and value of the secret that occurs in it:
-- how many of the block's people have that value, and what they weigh (here one each).
CREATE OR REPLACE VIEW cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    count(*) AS weight,
    1::BIGINT AS heaviest
FROM microdata
GROUP BY qid, secret;
