-- One row per random part of a sample: its stratum, of which so many blocks are drawn, and how many
-- blocks and people the stratum has, and how many people its largest block.
CREATE OR REPLACE VIEW parts AS
SELECT
    tasks.number AS part,
    strata.least AS stratum,
    strata.blocks AS of_blocks,
    strata.people AS of_people,
    strata.largest,
    strata.greatest - strata.least + 1 AS drawn
FROM tasks
INNER JOIN strata
    ON tasks.source = strata.source AND tasks.least BETWEEN strata.least AND strata.greatest
WHERE tasks.pass = getvariable('pass')
ORDER BY part;
