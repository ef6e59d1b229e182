-- One row per block that took this attribute and in which something varies: its new key.
CREATE OR REPLACE VIEW children AS
SELECT
    block,
    code,
    (row_number() OVER () + getvariable('blocks')) * getvariable('unit') + state AS child,
    turn(state) AS turn
FROM taken
WHERE open(state) <> 0 AND people(word) > 2;
