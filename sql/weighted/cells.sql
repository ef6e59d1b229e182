-- One row per block and value of the secret that occurs in it:
-- how many people have it, their weight together, and the heaviest of them.
CREATE OR REPLACE VIEW cells AS
SELECT
    qid,
    secret,
    count(*) AS people,
    sum(weight) AS weight,
    max(weight) AS heaviest
FROM microdata
GROUP BY qid, secret;
