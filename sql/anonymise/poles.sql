-- One row per part: its records, and around where the next group is made. Where the last group had
-- an opposite, there; else (fresh) around the person farthest from the centroid, of people as far
-- the last one. The centroid is rounded down to the grid of 2^20 steps, so that squares of
-- distances are whole numbers.
CREATE OR REPLACE VIEW poles AS
SELECT
    part,
    size,
    pole,
    fresh
FROM (
    SELECT
        near.part,
        any_value(size) AS size,
        arg_max(
            [(place >> 10)::BIGINT],
            (added([((place >> 10) - list_extract(center, number)) * ((place >> 10) - list_extract(center, number))]) << 17)
            + id
        ) AS pole,
        TRUE AS fresh
    FROM near JOIN (
        SELECT
            part,
            sum(people)::BIGINT AS size,
            [(sum((place >> 10)::BIGINT * people) // sum(people))::BIGINT] AS center
        FROM near ANTI JOIN carried USING (part)
        GROUP BY part
    ) AS centers ON near.part = centers.part
    GROUP BY near.part
    UNION ALL
    SELECT
        part,
        size,
        pole,
        FALSE AS fresh
    FROM carried
) AS every_pole;
