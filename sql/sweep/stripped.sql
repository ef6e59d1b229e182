-- One row per different person of a block that took this attribute and goes on: under its new key,
-- without the attribute's code.
CREATE OR REPLACE VIEW stripped AS
SELECT
    children.child AS block,
    live.rest & getvariable('later') AS rest,
    live.word AS word,
    children.turn
FROM live
INNER JOIN children
    ON live.block = children.block AND (live.rest & getvariable('field')) = children.code
WHERE live.turn = getvariable('this');
