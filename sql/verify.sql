-- Counts that a second engine repeats: SQLite runs this as it is.

-- One row per block and value of the secret: how many people, their weight together.
CREATE OR REPLACE VIEW cells AS
SELECT block, "value", count(*) AS people, sum(weight) AS weight
FROM individuals
GROUP BY block, "value";
