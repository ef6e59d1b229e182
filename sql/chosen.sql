-- One row per block to be shown: the smallest ones. The command line orders and limits it.
CREATE OR REPLACE VIEW chosen AS
SELECT *
FROM revealed
ORDER BY size
LIMIT 20;
