-- One row per value of the secret that is left when somebody who has one of them is gone: its number
-- then, and how many people have it.
CREATE OR REPLACE VIEW secrets_left AS
SELECT
    row_number() OVER (ORDER BY code) - 1 AS code,
    people - (code = wanted_code)::BIGINT AS people
FROM whole
WHERE people > (code = wanted_code)::BIGINT;
