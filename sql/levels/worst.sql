-- One row: the highest score of a block, that is the worst one for all that numbers of 64 bits tell.
CREATE OR REPLACE VIEW worst AS
SELECT max(score) AS score
FROM scored;
