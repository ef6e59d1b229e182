-- One row: how many places and values of the secret occur together, which are held in memory where
-- noise is on the records.
CREATE OR REPLACE VIEW cells AS
SELECT coalesce(sum(len(cells)), 0)::BIGINT AS cells
FROM kinds;
