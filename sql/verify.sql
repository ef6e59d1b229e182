-- Counts that a second engine repeats: SQLite runs this as it is.

-- One row per block and value of the secret: how many people, their weight together, the weight of
-- the heaviest.
CREATE OR REPLACE VIEW cells AS
SELECT block, "value", count(*) AS people, sum(weight) AS weight, max(weight) AS heaviest
FROM individuals
GROUP BY block, "value";
