-- One row per person of the chunk whose block goes on. People whose value of the secret nobody else
-- in their block has forget it.
CREATE OR REPLACE VIEW onward_entered AS
SELECT
    children.child AS block,
    CASE WHEN cells.people = 1 THEN live.rest | getvariable('secret') ELSE live.rest END AS rest,
    live.word,
    children.turn
FROM live
INNER JOIN children ON live.block = children.block
INNER JOIN cells
    ON live.block = cells.block AND (live.rest & getvariable('secret')) = cells.cell;
