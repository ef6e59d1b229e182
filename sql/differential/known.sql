-- One row per node about which it was not asked before how it is cut with everybody in it.
CREATE OR REPLACE VIEW known AS
SELECT node
FROM items ANTI JOIN known USING (node)
WHERE target = 0;
