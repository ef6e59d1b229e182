-- One row: how many rows are in blocks in which this attribute is the first that varies, with two
-- others or more, or with one other; and in how many blocks two or more vary.
CREATE OR REPLACE VIEW turns AS
SELECT
    count(*) FILTER (WHERE turn = getvariable('this')) AS many_left,
    count(*) FILTER (WHERE turn = getvariable('this_and_another')) AS two_left,
    count(*) FILTER (WHERE turn >= getvariable('two')) AS going_on
FROM live;
