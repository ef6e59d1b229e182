-- One row per question whose cut keeps every limit.
CREATE OR REPLACE VIEW accepted AS
SELECT
    decided.node,
    decided.target,
    decided.root,
    decided.attribute,
    decided.cut,
    decided.below
FROM decided ANTI JOIN refused ON decided.part = refused.part
WHERE decided.attribute > 0;
