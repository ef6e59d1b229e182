-- One row per block for an adversary who pays for a wrong guess and may abstain: `mode` is what
-- her best guess gains, times `scale`; nothing where it would lose.
CREATE OR REPLACE VIEW penalty AS
SELECT
    qid,
    size,
    weight,
    greatest(0, mode * (SELECT scale + penalty FROM asked) - weight * (SELECT penalty FROM asked))
        AS mode,
    heaviest,
    "values"
FROM blocks;
