-- One row per block and value of the secret that occurs in it:
-- how many of the block's people have that value.
CREATE OR REPLACE VIEW cells AS
SELECT
    qid,
    secret,
    count(*) AS weight
FROM microdata
GROUP BY qid, secret;
