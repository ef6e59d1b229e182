-- One row per size and number of values of a block, with totals over such blocks:
-- weights differ from person to person, so there may be as many modes as blocks.
CREATE OR REPLACE VIEW profile AS
SELECT
    size,
    "values",
    count(*) AS blocks,
    sum(weight) AS weight,
    sum(mode) AS mode,
    sum(heaviest) AS heaviest,
    max(mode / weight) AS chance,
    max(heaviest / weight) AS owner_chance
FROM blocks
GROUP BY size, "values";
