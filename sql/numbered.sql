-- One row per block, numbered from 1 in the order of its quasi-identifiers, missing last.
CREATE OR REPLACE VIEW numbered AS
SELECT
    qid,
    weight,
    row_number() OVER (ORDER BY qid ASC NULLS LAST) AS block
FROM blocks;
