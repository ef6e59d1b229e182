-- One row per part one side of which has too few different values of the secret.
CREATE OR REPLACE VIEW l_distinct AS
SELECT part
FROM sided
GROUP BY part, side
HAVING count(*) < wanted_l;
