-- One row per question that comes next: about both halves with everybody, about the half of the
-- target without them; and again, with the next widest quasi-identifier, where a cut was refused.
CREATE OR REPLACE VIEW items_next AS
SELECT
    node,
    target,
    root,
    tried
FROM (
    SELECT
        decided.node,
        decided.target,
        decided.root,
        decided.tried | (1::BIGINT << (decided.attribute - 1)) AS tried
    FROM decided SEMI JOIN refused ON decided.part = refused.part
    WHERE decided.attribute > 0
    UNION ALL
    SELECT
        settled.inside AS node,
        settled.target,
        settled.root,
        0::BIGINT AS tried
    FROM settled
    WHERE settled.attribute > 0 AND settled.target > 0
    UNION ALL
    SELECT
        node,
        0::BIGINT AS target,
        root,
        0::BIGINT AS tried
    FROM (
        SELECT DISTINCT
            beside AS node,
            root
        FROM settled
        WHERE attribute > 0
        UNION
        SELECT DISTINCT
            inside AS node,
            root
        FROM settled
        WHERE attribute > 0 AND target = 0
    ) AS whole_halves
    ANTI JOIN known USING (node)
) AS next_ones;
