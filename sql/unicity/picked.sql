-- One row per draw and point that is known of its person: each set of her points has the same chance.
CREATE OR REPLACE VIEW picked AS
SELECT
    lots.draw,
    lots.person,
    lots.point,
    lots.owners
FROM (
    SELECT
        drawn.draw,
        drawn.person,
        ranked.point,
        ranked.owners,
        row_number() OVER (
            PARTITION BY drawn.draw
            ORDER BY md5(concat(drawn.lot, '/', ranked.place)), ranked.place
        ) AS turn
    FROM drawn
    JOIN (
        SELECT
            paths.person,
            paths.point,
            paths.owners,
            row_number() OVER (PARTITION BY paths.person ORDER BY places.qid) AS place
        FROM paths
        JOIN places ON places.point = paths.point
        SEMI JOIN drawn ON drawn.person = paths.person
    ) AS ranked ON ranked.person = drawn.person
) AS lots, asked
WHERE lots.turn <= asked.points;
