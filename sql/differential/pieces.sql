-- One row per target and subtree that is added (1) or taken away (-1) to get the release without
-- them; their own class comes on top.
CREATE OR REPLACE VIEW pieces AS
SELECT
    target,
    unit,
    sign
FROM (
    SELECT
        target,
        root AS unit,
        1 AS sign
    FROM homes
    UNION ALL
    SELECT
        walked.target,
        walked.node AS unit,
        -1 AS sign
    FROM walked JOIN parted ON walked.target = parted.target AND walked.depth = parted.depth
    UNION ALL
    SELECT
        walked.target,
        walked.beside AS unit,
        1 AS sign
    FROM walked JOIN parted ON walked.target = parted.target AND walked.depth >= parted.depth
    WHERE walked.attribute > 0
) AS every_piece;
