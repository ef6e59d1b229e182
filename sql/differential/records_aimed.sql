-- One row per record that is a target, in the batch in which it is worked. Of fewer targets than
-- records, lots are drawn from the seed and the position.
CREATE OR REPLACE VIEW records_aimed AS
SELECT
    target,
    target AS record,
    spots,
    secret,
    1::BIGINT AS people,
    (row_number() OVER (ORDER BY target) - 1) // wanted_many AS batch
FROM (
    SELECT
        record AS target,
        [place] AS spots,
        [secrets][1] AS secret,
        row_number() OVER (ORDER BY md5(concat_ws('|', wanted_seed, record)), record) AS number_drawn
    FROM coded
) AS drawn
WHERE wanted_targets = 0 OR number_drawn <= wanted_targets;
