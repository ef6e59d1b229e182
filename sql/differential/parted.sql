-- One row per target in a tree for many: from where on the tree without them is another one.
CREATE OR REPLACE VIEW parted AS
SELECT
    walked.target,
    coalesce(
        min(walked.depth) FILTER (
            WHERE walked.attribute <> clean.attribute OR walked.cut IS DISTINCT FROM clean.cut
        ),
        max(walked.depth)
    ) AS depth,
    arg_max(walked.node, walked.depth) AS class
FROM walked LEFT JOIN clean ON walked.node = clean.node
GROUP BY walked.target;
