-- One row per part: the group around its pole. It ends with the k-th record in the order of the
-- distance from the pole; ``last`` is the distance and number of its last person, NULL where less
-- than k records would be left behind: then it is all there are. ``opposite`` is where the person
-- farthest from the pole is.
CREATE OR REPLACE VIEW groups AS
SELECT
    part,
    any_value(fresh) AS fresh,
    any_value(size) AS size,
    any_value(size) - max(upto) AS remaining,
    CASE WHEN any_value(size) - max(upto) >= wanted_k THEN max(packed) END AS last_of_group,
    any_value(pole) AS pole,
    any_value(opposite) AS opposite
FROM (
    SELECT
        listed.part,
        fresh,
        size,
        pole,
        opposite,
        packed,
        near.people,
        sum(near.people) OVER (PARTITION BY listed.part ORDER BY packed)::BIGINT AS upto
    FROM (
        SELECT
            part,
            fresh,
            size,
            pole,
            opposite,
            unnest(nearest) AS packed
        FROM (
            SELECT
                near.part,
                any_value(fresh) AS fresh,
                any_value(size) AS size,
                any_value(pole) AS pole,
                min(
                    (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17)
                    + id,
                    wanted_k
                ) AS nearest,
                arg_max(
                    [(place >> 10)::BIGINT],
                    (added([((place >> 10) - list_extract(pole, number)) * ((place >> 10) - list_extract(pole, number))]) << 17)
                    + id
                ) AS opposite
            FROM near JOIN poles ON near.part = poles.part
            GROUP BY near.part
        ) AS around
    ) AS listed
    JOIN near ON listed.part = near.part AND (packed & 131071) = near.id
) AS added_up
WHERE upto - people < wanted_k
GROUP BY part;
