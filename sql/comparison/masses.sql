-- One row per pair of masses that values of the original have: their records there (people), and
-- those of the release when every cell spreads its own evenly over the values that it contains, in
-- parts; how many values have just these.
CREATE OR REPLACE VIEW masses AS
SELECT
    people,
    mass,
    count(*)::BIGINT AS "values"
FROM (
    SELECT
        places.people,
        (coalesce(direct.mass, 0) + CASE WHEN places.place > 0 THEN coalesce(
            sum(edges.mass) OVER (ORDER BY places.place ROWS UNBOUNDED PRECEDING), 0
        ) ELSE 0 END)::HUGEINT AS mass
    FROM places
    LEFT JOIN (
        SELECT
            place,
            sum(share)::HUGEINT AS mass
        FROM (
            SELECT
                members.place,
                shares.share
            FROM shares
            INNER JOIN members ON shares.id = members.id
            WHERE shares.enumerated
            UNION ALL
            SELECT
                0 AS place,
                share
            FROM shares
            WHERE missing
        ) AS pieces
        GROUP BY place
    ) AS direct ON places.place = direct.place
    LEFT JOIN (
        SELECT
            place,
            sum(share)::HUGEINT AS mass
        FROM (
            SELECT
                first AS place,
                share
            FROM shares
            WHERE NOT enumerated AND last >= first
            UNION ALL
            SELECT
                last + 1 AS place,
                -share AS share
            FROM shares
            WHERE NOT enumerated AND last >= first
        ) AS pieces
        GROUP BY place
    ) AS edges ON places.place = edges.place
) AS weighed
GROUP BY people, mass;
