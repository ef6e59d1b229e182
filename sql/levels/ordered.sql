-- One row per block: how far probability moves from the release to the block along the order of
-- the values, times size and people. Along a stretch the share of the block stays and that of the
-- release grows: `crossing` is the last place at which the block's is not below.
CREATE OR REPLACE VIEW ordered AS
SELECT
    qid,
    any_value(blocks) AS blocks,
    any_value(size) AS size,
    coalesce(any_value(stand), any_value(size)) AS members,
    any_value(whole_people) AS whole_people,
    any_value(whole_values) AS whole_values,
    sum(
        met * whole_people * (2 * least(crossing, last_place) - place + 1 - last_place)
        - one * size * (
            2 * CASE WHEN crossing < last_place THEN crossing_summed ELSE last_summed END
            - before_summed - last_summed
        )
        + CASE WHEN met = people THEN one * size * before_summed ELSE 0 END
    )::HUGEINT AS moved
FROM (
    SELECT
        stretches.*,
        greatest(coalesce(crossings.place, 0), stretches.place - 1) AS crossing,
        CASE
            WHEN coalesce(crossings.place, 0) < stretches.place THEN firsts.summed - firsts.up_to
            ELSE crossings.summed
        END AS crossing_summed,
        firsts.summed - firsts.up_to AS before_summed,
        lasts.summed AS last_summed
    FROM stretches
    ASOF LEFT JOIN places AS crossings
        ON stretches.met * stretches.whole_people // stretches.size >= crossings.up_to
    JOIN places AS firsts ON firsts.place = stretches.place
    JOIN places AS lasts ON lasts.place = stretches.last_place
) AS crossed
GROUP BY qid;
