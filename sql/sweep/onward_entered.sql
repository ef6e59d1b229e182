-- One row per person of the chunk whose block goes on.
CREATE OR REPLACE VIEW onward_entered AS
SELECT
    children.child AS block,
    live.rest,
    live.word,
    children.turn
FROM live
INNER JOIN children ON live.block = children.block;
