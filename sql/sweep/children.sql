-- One row per block that took this attribute and in which something varies: its new key.
CREATE OR REPLACE VIEW children AS
SELECT
    block,
    code,
    keyed(row_number() OVER () + getvariable('blocks'), state) AS child,
    turn(state) AS turn
FROM taken
WHERE open(state) <> 0 AND size > 2;
